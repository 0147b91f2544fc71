"""Networks for voices, trained on songs whose voice and music are known; `train.train_on_songs` is the whole job."""
