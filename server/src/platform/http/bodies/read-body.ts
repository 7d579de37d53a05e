import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../errors.ts';

/** What `curl -d`, and `fetch` with a text, say without being asked. */
const FORM = 'application/x-www-form-urlencoded';
const UNSAID = [FORM, 'text/plain'];

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
  ) => (text.trim() === '' ? done(null, undefined) : parseText(request, text, done));

  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parse);
  app.addContentTypeParser([...UNSAID, '*'], { parseAs: 'string' }, (request, text: string, done) => {
    if (text === '') return done(null, undefined);
    const { formPart, isForm } = request.routeOptions.config;
    if (formPart) return done(notForm(formPart));
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (isForm && type === FORM) return done(null, Object.fromEntries(new URLSearchParams(text)));
    if (!carriesKey(request) || (type !== undefined && !UNSAID.includes(type))) return done(notJson());
    void parse(request, text, (error, body) => done(error && notJson(), body));
  });
  app.addContentTypeParser('application/octet-stream', (_request, _payload, done) => done(null));
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
