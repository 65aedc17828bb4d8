"""Multiprocessors with a row: all, or if few of them ran a block, only those."""

import numpy as np

from gpu_charts import derived_data, sparse_data
from tilescope.app.gpu_timelines.model.place import PanePlace
from tilescope.app.gpu_timelines.shown import chart_view_at


def test_where_few_multiprocessors_ran_a_block_those_are_listed():
    data = sparse_data()
    assert data.listed.tolist() == [0, 2, 4, 131]
    assert data.unlisted_count == 128
    assert data.row_of[[0, 2, 4, 131]].tolist() == [0, 1, 2, 3]
    assert (np.delete(data.row_of, [0, 2, 4, 131]) == 4).all()


def test_where_half_of_them_ran_a_block_all_are_listed():
    data = derived_data()
    assert data.listed.tolist() == data.row_of.tolist() == [0, 1, 2, 3]
    assert data.unlisted_count == 0
    assert chart_view_at(data, "gpu", PanePlace()).rows == 4
