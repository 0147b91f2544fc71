"""Encoders: networks of fixed depth whose layers are passes of Algorithm 1.

A layer finds the outliers o of a sample x through a code c of what is left without them::

    c <- G c + H' (x - o),   d = A c,   o <- soft(x - d, t)

and a readout gives the code s = H (x - o) in the end. With A = U, H' = H = (U'U + lam_* I)^-1 U', t = lam and G = 0 a
layer is one pass of Algorithm 1. Once these numbers are free, they can be trained to come nearer to the answer, or to a
better one, in the same time.
"""
