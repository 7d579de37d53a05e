import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';

/** What `curl -d`, and `fetch` with a text, say without being asked. */
const FORM = 'application/x-www-form-urlencoded';
const UNSAID = [FORM, 'text/plain'];

/** More than the longest conversation has. What does not fit is described field by field, and everybody waits meanwhile. */
const SIGNS_MAX = 50_000;

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
    if (isCounted && hasManyFields(text)) return done(manyFields());
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
      if (text.split('&', SIGNS_MAX + 1).length > SIGNS_MAX) return done(manyFields());
      return done(null, Object.fromEntries(new URLSearchParams(text)));
    }
    if (!carriesKey(request) || (type !== undefined && !UNSAID.includes(type))) return done(notJson());
    void parse(request, text, (error, body) =>
      done(error instanceof AppError ? error : error && notJson(), body),
    );
  });
  app.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
}

/** Counted before they are parsed, by what begins one: commas, brackets and texts, and not what is within a text. */
function hasManyFields(json: string): boolean {
  const sign = /[",[{]/g;
  for (let count = 0; sign.test(json); count += 1) {
    if (count === SIGNS_MAX) return true;
    if (json[sign.lastIndex - 1] === '"') sign.lastIndex = endOfText(json, sign.lastIndex);
  }
  return false;
}

/** Where the text ends whose first letter is at `from`: behind the first quote that is not escaped. */
function endOfText(json: string, from: number): number {
  for (let end = json.indexOf('"', from); end !== -1; end = json.indexOf('"', end + 1)) {
    let letters = end;
    while (json[letters - 1] === '\\') letters -= 1;
    if ((end - letters) % 2 === 0) return end + 1;
  }
  return json.length;
}

function manyFields(): AppError {
  return new AppError('invalid_request', {
    publicMessage: 'The body has too many fields. Send only those that this call takes',
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
