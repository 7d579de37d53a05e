import type { ErrorCode } from '@bakehouse/contract/errors';
import { AppError } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import type { DescribeError } from '../../platform/http/bind.ts';

/** Error codes that the hub's clients recognise. */
type HubCode = 'RepoNotFound' | 'GatedRepo' | 'RevisionNotFound' | 'EntryNotFound';

/** An error with the hub's own code; `url` is the address of a conflicting repository. */
export class HubError extends AppError {
  readonly hubCode: HubCode | null;
  readonly url: string | undefined;
  /** New name of a repository that was moved. */
  readonly movedTo: string | undefined;
  /** Commit that lacks a file: clients cache that. */
  readonly commitId: string | undefined;

  constructor(
    code: ErrorCode,
    hubCode: HubCode | null,
    publicMessage: string,
    more: { url?: string; movedTo?: string; commitId?: string } = {},
  ) {
    super(code, { publicMessage, shouldRetry: false });
    this.hubCode = hubCode;
    this.url = more.url;
    this.movedTo = more.movedTo;
    this.commitId = more.commitId;
  }
}

/** Messages by which clients distinguish a wrong token from a repository hidden from anonymous callers. */
const WRONG_TOKEN = 'Invalid credentials in Authorization header';
const NO_TOKEN = 'An API key is needed: set HF_TOKEN';

/** Returns an error in the hub's format: code and message in headers, and the message in the body. */
export const describeHubError: DescribeError = (error, request) => {
  const { authorization, 'x-api-key': key } = request.headers;
  const isUnknown = error.code === 'unauthenticated';
  const isAnonymous = isUnknown && authorization === undefined && key === undefined;
  const isOfRepository = 'namespace' in Object(request.params);
  const code =
    error instanceof HubError
      ? error.hubCode
      : isAnonymous && isOfRepository
        ? 'RepoNotFound'
        : codeOf(error);
  const sentence = isAnonymous ? NO_TOKEN : error.publicMessage;
  const words = isUnknown && !isAnonymous ? WRONG_TOKEN : sentence;
  const moved = error instanceof HubError && error.movedTo ? inNewPlace(request.url, error.movedTo) : null;
  if (moved !== null) {
    // Clients follow redirects only on the same host.
    return new Answer({ error: error.publicMessage }, { status: 307, headers: { location: moved } });
  }
  const { url, commitId } = error instanceof HubError ? error : {};
  const headers = {
    ...(commitId && { 'x-repo-commit': commitId }),
    ...(code && { 'x-error-code': code }),
    // Headers allow only these characters.
    'x-error-message': words.replace(/[^\x20-\x7e]/g, '?'),
  };
  return new Answer({ error: sentence, ...(url !== undefined && { url }) }, { headers });
};

/** Returns the same path with the repository's new name; null if the path names no repository. */
function inNewPlace(path: string, name: string): string | null {
  const named =
    /^(\/hub\/(?:api\/(?:models|datasets)\/|datasets\/|(?!api\/)))[^/?]+\/[^/?]+?(\.git)?(?=[/?]|$)/;
  return named.test(path) ? path.replace(named, `$1${name}$2`) : null;
}

/** Maps errors of other modules. */
function codeOf({ code, param }: AppError): HubCode | null {
  return code === 'not_found' && param === 'path' ? 'EntryNotFound' : null;
}
