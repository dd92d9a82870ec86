def interior_point(*a): raise NotImplementedError
