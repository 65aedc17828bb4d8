"""Which moment each frame of a film shows: exact, in either direction, for every number of frames a second."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilescope.app.films.kinds import kind_of, rate_for
from tilescope.app.films.model.film import Film, Shot, played
from tilescope.app.widgets.widget_picture import PictureError


def moments(film):
    """Return the moment of every frame."""
    return [still.moment for still in film.stills() for _ in range(still.frames)]


def test_frames_follow_only_from_start_speed_and_rate():
    film = Film([played(2.0, 4.0, 8.0, Fraction(0), Fraction(24))], Fraction(24))
    assert moments(film) == [float(2 + Fraction(i, 3)) for i in range(7)]
    assert film.seconds == 7 / 24


def test_the_end_stays_and_is_one_still():
    film = Film([played(0.0, 1.0, 1.0, Fraction(1, 2), Fraction(10))], Fraction(10))
    *moving, last = film.stills()
    assert [still.frames for still in moving] == [1] * 10
    assert (last.moment, last.frames) == (1.0, 5)
    assert film.seconds == 1.5


def test_from_a_later_moment_to_an_earlier_one_is_backwards():
    rate = Fraction(4)
    there, back = (Film([played(*way, 2.0, Fraction(0), rate)], rate) for way in ((0.0, 3.0), (3.0, 0.0)))
    assert moments(back) == moments(there)[::-1]


def test_a_moment_that_stays_where_it_is_has_a_frame():
    rate = Fraction(30)
    assert moments(Film([played(5.0, 5.0, 8.0, Fraction(0), rate)], rate)) == [5.0]


def test_shots_follow_each_other():
    rate = Fraction(2)
    shots = [Shot(0.0, 2.0, Fraction(1), Fraction(1, 2)), Shot(7.0, 7.0, Fraction(0), Fraction(1))]
    assert moments(Film(shots, rate)) == [0.0, 1.0, 2.0, 7.0, 7.0]


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(1, 20), st.floats(0, 3), st.integers(1, 120))
def test_every_film_goes_evenly_from_its_start_to_its_end(begin, end, seconds, hold, rate):
    speed = max(abs(end - begin), 1e-6) / seconds
    film = Film([played(begin, end, speed, Fraction(hold), Fraction(rate))], Fraction(rate))
    shown = moments(film)
    assert len(shown) == film.frames
    assert shown[-1] == end and (shown[0] == begin or len(shown) == 1)
    assert shown == sorted(shown, reverse=end < begin)
    for i in (0, len(shown) // 2, len(shown) - 1):
        gone = min(Fraction(i, rate) * Fraction(speed), abs(Fraction(end) - Fraction(begin)))
        assert shown[i] == float(Fraction(begin) + (gone if end > begin else -gone))


def test_a_gif_has_frames_that_hundredths_of_a_second_can_say():
    gif, video = kind_of("a.gif"), kind_of("a.mp4")
    assert [rate_for(gif, wanted) for wanted in (None, 30, 25, 60)] == [20, Fraction(100, 3), 25, 50]
    assert [rate_for(video, wanted) for wanted in (None, 24)] == [30, 24]


@pytest.mark.parametrize("name", ["a.avi", "a.mp3", "a.png"])
def test_another_ending_is_refused(name):
    with pytest.raises(
        PictureError, match=r"must end with \.mp4, \.webm, \.gif, \.webp or \.html, or name a folder"
    ):
        kind_of(name)


def test_endings_and_folders(tmp_path):
    (tmp_path / "film.gif").mkdir()
    assert [kind_of(name).suffix for name in ("A.MP4", "a.gif", "a", "a.b/")] == [".mp4", ".gif", "", ""]
    assert kind_of(str(tmp_path / "film.gif")).suffix == ""
