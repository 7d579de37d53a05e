import type { ErrorCode } from '@bakehouse/contract/errors';
import { AppError } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';
import type { DescribeError } from '../../platform/http/bind.ts';

/** Error codes that the hub's clients recognise. */
type HubCode = 'RepoNotFound' | 'GatedRepo' | 'RevisionNotFound' | 'EntryNotFound';

/** An error with the hub's own code. `url` is the address of an existing repository with the same name. */
export class HubError extends AppError {
  readonly hubCode: HubCode | null;
  readonly url: string | undefined;
  /** New name of a repository that was renamed. */
  readonly movedTo: string | undefined;
  /** Id of the commit that lacks a file. Clients cache that it is missing there. */
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

/** Texts by which clients tell a wrong token from a repository that needs a token. */
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
    // Clients follow redirects only to the same host.
    return new Answer({ error: error.publicMessage }, { status: 307, headers: { location: moved } });
  }
  const { url, commitId } = error instanceof HubError ? error : {};
  const headers = {
    ...(commitId && { 'x-repo-commit': commitId }),
    ...(code && { 'x-error-code': code }),
    // Other characters are not allowed in headers.
    'x-error-message': words.replace(/[^\x20-\x7e]/g, '?'),
  };
  return new Answer({ error: sentence, ...(url !== undefined && { url }) }, { headers });
};

/** Replaces the repository's name in a path by its new name. Returns null if there is none in the path. */
function inNewPlace(path: string, name: string): string | null {
  const named =
    /^(\/hub\/(?:api\/(?:models|datasets)\/|datasets\/|(?!api\/)))[^/?]+\/[^/?]+?(\.git)?(?=[/?]|$)/;
  return named.test(path) ? path.replace(named, `$1${name}$2`) : null;
}

/** Converts errors of other modules to the hub's errors. */
function codeOf({ code, param }: AppError): HubCode | null {
  return code === 'not_found' && param === 'path' ? 'EntryNotFound' : null;
}
