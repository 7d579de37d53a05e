import type { Endpoint } from '@bakehouse/contract/endpoint';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { AppError, notFoundError } from '../errors.ts';
import type { DescribeError } from './bind.ts';

/** A path of OpenAI that this server does not have. Here it would look like the id of a response. */
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

/** Returns the error for a call that does not exist. Suggests an alternative if there is one. */
export function callNotFound(method: string, path: string): AppError {
  const bare = `There is no ${method} ${path}`;
  const [, called] = /^\/v1\/+(.*?)\/*$/.exec(path) ?? [];
  const known = instead.find(([name]) => called === name || called?.startsWith(`${name}/`));
  const advice = called === undefined ? '' : `. ${known ? known[1] : HERE}`;
  return notFoundError(`${bare}${advice}`);
}

/** Returns true if a path that looks like a resource is a call that does not exist. */
function isMissingCall(path: string): boolean {
  return path === `/v1/${COMPACT}`;
}

type Call = Pick<Endpoint, 'method' | 'path'> & { describeError?: DescribeError | undefined };

/** On these paths, answers calls with unsupported methods with 405 and the supported methods. */
export function rejectOtherMethods(app: FastifyInstance, calls: Call[]): void {
  for (const [path, own] of Map.groupBy(calls, (call) => call.path)) {
    const methods = new Set<string>(own.map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    const allowed = [...methods].join(', ');
    app.route({
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      url: path,
      schema: { hide: true },
      config: { describeError: own[0]?.describeError },
      // Before the body is read.
      onRequest: async (request, reply) => {
        const [called = ''] = request.url.split('?');
        if (isMissingCall(called)) throw callNotFound(request.method, called);
        reply.header('allow', allowed);
        throw new AppError('method_not_allowed', {
          publicMessage: `${called} takes ${allowed}, not ${request.method}`,
        });
      },
      handler: async () => undefined,
    });
  }
}

/** Answers calls that another service's API has, but this server has not, in that API's error format. */
export function rejectUnknownCalls(urls: string[], describeError: DescribeError): FastifyPluginAsync {
  return async (app) => {
    for (const url of urls) {
      app.all(url, {
        schema: { hide: true },
        config: { describeError },
        // Before the body is read.
        onRequest: async ({ method, url: called }) => {
          const [path = ''] = called.split('?');
          throw callNotFound(method, path);
        },
        handler: async () => undefined,
      });
    }
  };
}
