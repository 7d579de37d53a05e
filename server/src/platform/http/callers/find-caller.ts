import type { Endpoint, KeyScope } from '@bakehouse/contract/endpoint';
import type { FastifyRequest } from 'fastify';
import type { Caller, CallerKey, UserCaller, WorkloadCaller } from '../../context.ts';
import { forbidden, invalidApiKey, signInRequired, unauthenticated } from '../../errors.ts';
import { isOwnHost } from '../addresses/own-addresses.ts';

/** Functions that authenticate callers. Provided by the modules that own users and workloads. */
export type Authenticators = {
  /** Returns the owner of the API key, or null if the key is invalid. */
  key: (key: string) => Promise<UserCaller | null>;
  /** Returns the owner of the browser's session cookie. */
  session: (request: FastifyRequest) => Promise<UserCaller | null>;
  workload: (workloadId: string, token: string) => Promise<WorkloadCaller | null>;
};

/** Authenticates the caller of an endpoint. Throws AppError 'unauthenticated' or 'forbidden'. */
export async function findCaller(
  request: FastifyRequest,
  endpoint: Endpoint,
  { authenticators, publicUrl }: { authenticators: Authenticators; publicUrl: string },
): Promise<Caller> {
  const { access } = endpoint;
  if (access === 'public') return { kind: 'nobody' };
  if (access === 'workload') return findWorkload(request, authenticators);
  const bySession = access === 'session' || (access === 'key_or_session' && readKey(request) === null);
  if (bySession) {
    if (request.method !== 'GET') assertSameSite(request, publicUrl);
    const user = await authenticators.session(request);
    if (!user) throw signInRequired();
    return user;
  }
  const user = await findKeyOwner(request, authenticators);
  assertScope(endpoint, user.key?.scopes ?? ['everything']);
  if (access === 'operator' && !user.isOperator) {
    throw forbidden('Only an operator may do this');
  }
  if (access === 'operator' && user.key) assertUnlimitedKey(user.key);
  if (endpoint.managesKeys && user.key) assertWebAppKey(user.key);
  return user;
}

/** Operators can grant credits. So a key with limits could otherwise grant its own user more. */
function assertUnlimitedKey({ scopes, hasBudget }: CallerKey): void {
  if (!hasBudget && scopes.includes('everything')) return;
  throw forbidden('This call needs an API key for everything, without a budget. Use the key of the web app');
}

function assertScope(endpoint: Endpoint, scopes: readonly KeyScope[]): void {
  const isReading = endpoint.method === 'GET' || endpoint.method === 'HEAD';
  const open: KeyScope[] = ['everything', ...(endpoint.scopes ?? (isReading ? ['read' as const] : []))];
  if (scopes.some((scope) => open.includes(scope))) return;
  throw forbidden(
    `This API key is for ${scopes.join(' and ')}: this call needs one for ${open.join(' or ')}`,
  );
}

/** Otherwise a key could create a key with more rights or a later expiry than its own. */
function assertWebAppKey({ forWebApp }: CallerKey): void {
  if (forWebApp) return;
  throw forbidden('This API key cannot manage API keys. Use the key of the web app');
}

async function findKeyOwner(request: FastifyRequest, authenticators: Authenticators): Promise<UserCaller> {
  const key = readKey(request);
  if (!key) {
    throw unauthenticated('API key not found. Send it in the X-API-KEY header, or as Authorization: Bearer');
  }
  const user = await authenticators.key(key);
  if (!user) throw invalidApiKey();
  return user;
}

async function findWorkload(
  request: FastifyRequest,
  authenticators: Authenticators,
): Promise<WorkloadCaller> {
  const token = readBearer(request);
  const { workloadId } = request.params as { workloadId: string };
  const workload = token ? await authenticators.workload(workloadId, token) : null;
  if (!workload) throw unauthenticated('This workload token is not valid');
  return workload;
}

/**
 * Rejects session requests that a page of another origin sent. Browsers add cookies to requests of any page.
 * SameSite only excludes other sites, so this check also excludes other ports and subdomains. Programs send
 * no Origin header.
 */
function assertSameSite(request: FastifyRequest, publicUrl: string): void {
  const { origin } = request.headers;
  if (origin === undefined) return;
  const host = URL.canParse(origin) ? new URL(origin).host : '';
  if (isOwnHost(host, publicUrl) && (host === request.host || host === new URL(publicUrl).host)) return;
  throw forbidden('Only a page of this server may do this');
}

/** Hugging Face's JavaScript client requires this prefix of tokens. */
const HUB_PREFIX = /^hf_(?=bk_)/;

/** Returns the API key of a request. */
export function readKey(request: FastifyRequest): string | null {
  return headerText(request.headers['x-api-key']) ?? readBearer(request)?.replace(HUB_PREFIX, '') ?? null;
}

function readBearer(request: FastifyRequest): string | null {
  const match = /^Bearer\s+(\S+)$/i.exec(headerText(request.headers.authorization) ?? '');
  return match?.[1] ?? null;
}

/** Returns the first value of a header that may be repeated. */
export function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
