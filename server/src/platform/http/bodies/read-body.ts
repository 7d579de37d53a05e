import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';

/** What `curl -d`, and `fetch` with a text, say without being asked. */
const FORM = 'application/x-www-form-urlencoded';
const UNSAID = [FORM, 'text/plain'];

/** No larger body of a user's has more than some hundred fields: what it is large of is a picture, or text. */
const LARGE_LENGTH = 1024 * 1024;
const FIELDS_MAX = 250_000;

/**
 * How bodies are read: as JSON, or as the form that an endpoint takes. Programs that carry a key need not say so: no page of another site
 * can send the key's header, so that nobody is made to send anything. A browser's cookie goes along
 * by itself: what it opens takes only what says that it is JSON, which another site's page cannot
 * say either. An empty body is none. Bytes of files are not read here: the handler streams them.
 */
export function readBodies(app: FastifyInstance): void {
  const parseText = app.getDefaultJsonParser('error', 'error');
  const parse = (
    request: FastifyRequest,
    text: string,
    done: (error: Error | null, body?: unknown) => void,
  ) => {
    // A workload's reports quote what it prints; each endpoint of theirs says how many come in one body.
    const isCounted = request.caller.kind !== 'workload';
    if (isCounted && hasManyFields(text, /[,[{]/g)) return done(manyFields());
    return text.trim() === '' ? done(null, undefined) : parseText(request, text, done);
  };

  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parse);
  app.addContentTypeParser([...UNSAID, '*'], { parseAs: 'string' }, (request, text: string, done) => {
    if (text === '') return done(null, undefined);
    const { formPart, isForm } = request.routeOptions.config;
    if (formPart) return done(notForm(formPart));
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (isForm && type === FORM) {
      if (hasManyFields(text, /&/g)) return done(manyFields());
      return done(null, Object.fromEntries(new URLSearchParams(text)));
    }
    if (!carriesKey(request) || (type !== undefined && !UNSAID.includes(type))) return done(notJson());
    void parse(request, text, (error, body) =>
      done(error instanceof AppError ? error : error && notJson(), body),
    );
  });
  app.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
}

/**
 * Millions of them would hold everybody up while they are parsed. Counted by what begins one, also where that is within a
 * text: what is no larger than a conversation is not counted.
 */
function hasManyFields(text: string, beginning: RegExp): boolean {
  if (text.length <= LARGE_LENGTH) return false;
  for (let count = 0; beginning.test(text); count += 1) if (count === FIELDS_MAX) return true;
  return false;
}

function manyFields(): AppError {
  return new AppError('invalid_request', {
    publicMessage: `The body has more than ${FIELDS_MAX} fields. Send only those that this call takes`,
  });
}

function carriesKey({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] !== undefined || headers.authorization !== undefined;
}

/** What is answered to a file that does not come in a form. */
export function notForm(part: string): AppError {
  return new AppError('unsupported_media_type', {
    publicMessage: `Send the file as multipart/form-data, in a part named ${part}`,
    param: 'Content-Type',
  });
}

function notJson(): AppError {
  return new AppError('unsupported_media_type', {
    publicMessage: 'Send the body as JSON, with the header Content-Type: application/json',
    param: 'Content-Type',
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The part of a form that the body's file comes in. */
    formPart?: string | undefined;
    /** The body is a form without a file. */
    isForm?: boolean | undefined;
  }
}
