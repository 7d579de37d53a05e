-- Videos have frames, and perhaps sound; some of their frames in a row are a file of their own.
alter table generation_outputs
  add column frames integer constraint generation_outputs_frames_check check (frames > 0),
  add column has_audio boolean,
  add column strip_sha256 text references blobs (sha256),
  add column strip_bytes bigint;
-- Of those from before nobody knows: their pages say that they are silent.
update generation_outputs set has_audio = false where duration_s is not null;
alter table generation_outputs
  add constraint generation_outputs_strip_check check ((strip_sha256 is null) = (strip_bytes is null)),
  add constraint generation_outputs_video_check check ((duration_s is null) = (has_audio is null));
create index generation_outputs_by_strip on generation_outputs (strip_sha256);

-- What a call of the videos API asked for, in its own words: what a model makes of that may be something else.
alter table generations add column asked jsonb;
