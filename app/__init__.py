"""The dashboard: `regioncount app`, or `python -m regioncount_app`.

``data`` computes what is shown, ``views`` turns it into figures and parts of the page, ``server`` wires the two
together and serves them on this machine only. ``data`` knows neither plotly nor dash.
"""
