"""Partitions as shapely geometries: a coverage of the domain, regions as unions, GeoJSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
import shapely
from test_boundary import chooser

import regioncount as rc
from regioncount import geometry
from regioncount.definitions import DEFINITIONS
from regioncount.errors import InputError

SQUARE = "-1:1,-1:1"
BUMP = [([[1, 0], [0, 1]], [0, 0]), "abs", ([[-1, -1]], ["1/2"]), "relu"]  # a pyramid, 0 around it
TOUCHING = [([[1, 1], [1, 0], [0, 1]], [0, 0, 0]), "relu", ([[1, -1, -1]], [0])]


def relu(seed: int, domain=None):
    return rc.subdivide(rc.constructions.random_relu((2, 8, 8, 1), seed=seed), domain)


def transformer(seed: int):
    """Attention in two layers: facets are parts of edges."""
    return rc.subdivide(
        rc.constructions.random_transformer(
            input_dim=2, tokens=3, layers=2, heads=1, dim=3, hidden=3, queries="fixed", seed=seed
        )
    )


PARTITIONS = {
    "relu": lambda: relu(0),
    "triangle": lambda: relu(1, "poly:-1,-1;2,0;0,3/2"),
    "far and flat": lambda: relu(2, "1000:1002,-1/1000:1/1000"),
    "maxout": lambda: rc.subdivide(rc.constructions.random_maxout((2, 6, 6, 1), seed=0)),
    "transformer 0": lambda: transformer(0),
    "transformer 3": lambda: transformer(3),
    "bump": lambda: rc.subdivide(rc.from_layers(BUMP), SQUARE),
    "touching": lambda: rc.subdivide(rc.from_layers(TOUCHING), SQUARE),
}


@pytest.fixture(params=PARTITIONS, scope="module")
def partition(request):
    return PARTITIONS[request.param]()


def domain_of(partition) -> shapely.Polygon:
    return shapely.Polygon([(float(x), float(y)) for x, y in partition.domain.vertices])


def test_pieces_cover_the_domain_without_gaps(partition) -> None:
    pieces, domain = geometry.polygons(partition), domain_of(partition)
    assert len(pieces) == partition.n_pieces
    assert shapely.is_valid(pieces).all() and shapely.is_ccw(shapely.get_exterior_ring(pieces)).all()
    assert shapely.coverage_is_valid(pieces, gap_width=1e-3 * domain.length)
    whole = shapely.coverage_union_all(pieces)
    assert whole.geom_type == "Polygon" and not whole.interiors
    assert whole.symmetric_difference(domain).area <= 1e-12 * domain.area
    np.testing.assert_allclose(geometry.areas(partition).sum(), domain.area, rtol=1e-9)
    assert (geometry.areas(partition) > 0).all()


def test_corners_at_t_junctions() -> None:
    partition = transformer(3)
    offsets, _ = geometry.walks(partition)
    more = np.diff(offsets) > np.diff(partition.offsets)
    assert more.any(), "this network has vertices inside edges"
    convex = np.split(partition.vertices[partition.piece_vertices], partition.offsets[1:-1])
    plain = np.array([shapely.Polygon(corners) for corners in convex])
    assert not shapely.coverage_is_valid(plain), "without them the pieces are no coverage"
    np.testing.assert_allclose(shapely.area(plain), geometry.areas(partition), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_regions_are_unions_of_their_pieces(partition, definition: str) -> None:
    found = geometry.regions(partition, definition)
    assert len(found) == partition.count(definition)
    assert shapely.is_valid(found).all() and shapely.coverage_is_valid(found, gap_width=1e-6)
    size = np.bincount(partition.labels(definition), geometry.areas(partition))
    np.testing.assert_allclose(shapely.area(found), size, rtol=1e-9)
    if definition in ("activation", "cells", "linear"):  # joined through facets
        assert set(shapely.get_type_id(found)) == {shapely.GeometryType.POLYGON}


def test_a_region_around_a_region_keeps_its_hole() -> None:
    partition = PARTITIONS["bump"]()
    found = geometry.regions(partition)
    assert len(found) == 5
    outside = found[np.argmax(shapely.area(found))]
    assert len(outside.interiors) == 1 and outside.area == pytest.approx(3.5)
    assert shapely.Polygon(outside.interiors[0]).equals(shapely.Polygon([(0.5, 0), (0, 0.5), (-0.5, 0), (0, -0.5)]))


def test_a_region_in_two_parts() -> None:
    partition = PARTITIONS["touching"]()
    assert (partition.count("linear"), partition.count("linear_closed")) == (6, 5)
    parts = shapely.get_num_geometries(geometry.regions(partition, "linear_closed"))
    assert sorted(parts.tolist()) == [1, 1, 1, 1, 2]


def test_unknown_definition() -> None:
    with pytest.raises(InputError, match="expected one of activation"):
        geometry.regions(PARTITIONS["touching"](), "volume")
    with pytest.raises(InputError, match="expected one of activation"):
        geometry.geojson(PARTITIONS["touching"](), "volume")


# --- the line


def test_the_line() -> None:
    partition = rc.subdivide(rc.constructions.three_step(tokens=4, depth=6))
    pieces = geometry.polygons(partition)
    assert geometry.areas(partition).sum() == pytest.approx(1)
    np.testing.assert_allclose(shapely.length(pieces), geometry.areas(partition))
    for definition in DEFINITIONS:
        found = geometry.regions(partition, definition)
        assert len(found) == partition.count(definition)
        size = np.bincount(partition.labels(definition), geometry.areas(partition))
        np.testing.assert_allclose(shapely.length(found), size)
    with pytest.raises(InputError, match="one of the plane, got one of dimension 1"):
        geometry.walks(partition)


def test_one_map_in_two_parts_of_the_line() -> None:
    layers = [([[1], [1], [1]], [0, -1, -2]), "relu", ([[1, -2, 1]], [0])]
    partition = rc.subdivide(rc.from_layers(layers), "-1:3")
    assert [g.geom_type for g in geometry.regions(partition, "affine_maps")][0] == "MultiLineString"
    assert {g.geom_type for g in geometry.regions(partition, "linear")} == {"LineString"}


# --- GeoJSON


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_geojson(definition: str) -> None:
    partition = PARTITIONS["bump"]()
    found = json.loads(json.dumps(geometry.geojson(partition, definition), allow_nan=False))
    assert found["type"] == "FeatureCollection" and len(found["features"]) == partition.count(definition)
    total = 0.0
    for region, feature in enumerate(found["features"]):
        shape, properties = shapely.geometry.shape(feature["geometry"]), feature["properties"]
        assert (properties["region"], properties["definition"]) == (region, definition)
        assert properties["area"] == pytest.approx(shape.area)
        assert properties["pieces"] == (partition.labels(definition) == region).sum()
        point = shape.representative_point()
        x = np.array([point.x, point.y])
        value = np.array(properties["slopes"]) @ x + properties["constants"]
        np.testing.assert_allclose(value, partition.network.evaluate(x[None])[0], atol=1e-12)
        assert shapely.is_ccw(shapely.get_exterior_ring(shapely.get_geometry(shape, 0)))
        assert ("pattern" in properties) == (definition in ("activation", "cells"))
        if "pattern" in properties:
            bits = partition.network.activation_pattern(x[None])[0]
            assert properties["pattern"] == "".join(map(str, bits))
        total += shape.area
    assert total == pytest.approx(4)


def test_geojson_of_the_line() -> None:
    partition = rc.subdivide(chooser(1, ([[1, 5], [0, 1]], [0, 0])), "-1:1")
    first, second = geometry.geojson(partition)["features"]
    assert first["geometry"] == {"type": "LineString", "coordinates": [[-1, 0], [0, 0]]}
    assert (first["properties"]["slopes"], first["properties"]["constants"]) == ([[1], [0]], [5, 1])
    assert second["properties"]["area"] == 1
