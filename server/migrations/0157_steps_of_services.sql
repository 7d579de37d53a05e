-- What a service does is not told by steps: it has none, and a picture that it generates now is at no step of one.
alter table generations drop constraint generations_steps_check;
update generations set steps = 0, step = 0 where provider = 'upstream';
alter table generations add constraint generations_steps_check check (steps >= 0);
