/** Path of an OpenAI call that would otherwise match a response with this id. */
const COMPACT = 'responses/compact';

/** Alternatives to missing calls of OpenAI's and Anthropic's APIs, by the prefix of their paths. */
const instead: [path: string, sentence: string][] = [
  [COMPACT, 'This server shortens no conversations: send a shorter input to POST /v1/responses'],
  [
    'responses',
    'Under /v1/responses there are POST for a new one, POST input_tokens, GET and DELETE of one, and its input_items; no response runs in the background',
  ],
  ['messages', "Of Anthropic's Messages API there are POST /v1/messages and POST /v1/messages/count_tokens"],
  ['complete', "Of Anthropic's API there is the newer POST /v1/messages"],
  ['assistants', 'This server has no assistants: send the whole conversation to POST /v1/chat/completions'],
  ['threads', 'This server keeps no threads: send the whole conversation to POST /v1/chat/completions'],
  [
    'conversations',
    'This server keeps no conversations for programs: send all of it to POST /v1/chat/completions',
  ],
  [
    'chat/completions',
    'This server keeps no completions: what POST /v1/chat/completions answers is all there is',
  ],
  [
    'moderations',
    'This server has no moderation model: ask one that you have deployed by POST /v1/chat/completions',
  ],
  ['audio', 'This server neither writes down speech nor speaks'],
  ['realtime', 'This server neither hears nor speaks: stream from POST /v1/chat/completions'],
  ['videos', 'Under /v1/videos there are POST and GET, and GET and DELETE of one, and its content'],
  ['images/variations', 'This server makes no variations: edit a picture with POST /v1/images/edits'],
  ['files', 'Under /v1/files there are POST and GET, and GET and DELETE of one, and its content'],
  [
    'uploads',
    'Large files come in parts to POST /api/v1/asset/{id}/uploads: a dataset with one file is a file',
  ],
  [
    'vector_stores',
    'This server has no vector stores: ask the files of a dataset in SQL, POST /api/v1/asset/{id}/sql',
  ],
  [
    'fine_tuning/jobs',
    'Under /v1/fine_tuning/jobs there are POST and GET, and GET, cancel, resume, events and checkpoints of one. To pause a job, cancel it: its work is saved, and resume goes on from it',
  ],
  [
    'fine_tuning',
    'A fine-tune is called by its owner alone: publish its model, or share it, to let others deploy it',
  ],
  ['batches', 'Under /v1/batches there are POST and GET, and GET and cancel of one'],
  ['evals', 'This server has no evaluations: GET /api/v1/runs tells what each fine-tune measured'],
];

const HERE =
  'Under /v1 there are chat/completions, responses, completions, messages, embeddings, models, files, fine_tuning/jobs, batches, images/generations, images/edits, videos and video/generations; GET /openapi.json describes them';

/** Returns why a call does not exist, with an alternative if one is known. */
export function noSuchCall(method: string, path: string): string {
  const bare = `There is no ${method} ${path}`;
  const [, called] = /^\/v1\/+(.*?)\/*$/.exec(path) ?? [];
  if (called === undefined) return bare;
  const known = instead.find(([name]) => called === name || called.startsWith(`${name}/`));
  return `${bare}. ${known ? known[1] : HERE}`;
}

/** Returns true if a path is a missing call rather than a resource. */
export function isAbsentCall(path: string): boolean {
  return path === `/v1/${COMPACT}`;
}
