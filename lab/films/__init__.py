"""Checks of the video stream on real films with truth: constants left to the films, events, moves of the camera."""
