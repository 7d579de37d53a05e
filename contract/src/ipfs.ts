import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

const params = z.object({ id: idOf('dataset or model') });

/** The operator's own node, and a service that fetches the files from it. */
const pinServices = ['kubo', 'pinning_service'] as const;
export type PinServiceName = (typeof pinServices)[number];

/** `queued`: the service has not begun. `failed`: it is tried again by itself. */
export const pinStates = ['queued', 'pinning', 'pinned', 'failed'] as const;
export type PinState = (typeof pinStates)[number];

const pin = z.object({
  service: z.enum(pinServices),
  state: z.enum(pinStates),
  /** What it waits for, or why it failed. */
  reason: z.string().nullable(),
  /** When the service was last asked. */
  checked_at: z.string().nullable(),
});

const ipfsRevision = z.object({
  revision_id: z.string(),
  number: z.int(),
  created_at: z.string(),
  /** Of the folder with all its files: CIDv1, as `ipfs add --recursive --hidden --cid-version=1` makes it; null while it is computed. */
  cid: z.string().nullable(),
  /** Why it could not be computed so far; it is tried again by itself. */
  reason: z.string().nullable(),
  /** One for each configured service. */
  pins: z.array(pin),
});

export type IpfsRevision = z.infer<typeof ipfsRevision>;

/** Revisions that were replaced before their CID was computed are left out. */
export const getIpfs = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/ipfs',
  access: 'key',
  operation: 'read the IPFS addresses',
  summary: 'List the revisions with their CIDs and pins, newest first',
  params,
  query: z.object({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: idOf('revision').optional(),
  }),
  response: z.object({
    use_ipfs: z.boolean(),
    /** Where this installation pins. Empty: files are addressed, and kept here only. */
    services: z.array(z.enum(pinServices)),
    revisions: z.array(ipfsRevision),
    next_cursor: z.string().nullable(),
  }),
});

const ipfsFile = z.object({
  path: z.string(),
  size_bytes: z.number(),
  sha256: z.string(),
  /** CIDv1, as `ipfs add --cid-version=1` makes it; null while it is computed. */
  cid: z.string().nullable(),
});

export type IpfsFile = z.infer<typeof ipfsFile>;

export const listIpfsFiles = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/ipfs/files',
  access: 'key',
  operation: 'list the files',
  summary: 'List the files of a revision with their CIDs',
  params,
  query: z.object({
    /** The newest unless said. */
    revision_id: idOf('revision').optional(),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: z.string().optional(),
  }),
  response: z.object({ files: z.array(ipfsFile), next_cursor: z.string().nullable() }),
});

/** A revision, or one file of it. */
const carQuery = z.object({
  /** The newest unless said. */
  revision_id: idOf('revision').optional(),
  /** Left out: the folder with all files. */
  path: z.string().min(1, 'path must not be empty').optional(),
});

const car = { 'application/vnd.ipld.car': null };

export const downloadCar = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/car',
  access: 'key',
  operation: 'download the CAR',
  summary: 'Download a revision or a file as a CAR',
  answers: car,
  params,
  query: carQuery,
});

/** A link opens without a key, so that the browser downloads the CAR by itself, however large it is. */
export const linkCar = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/car_link',
  access: 'key',
  operation: 'download the CAR',
  summary: 'Create a short-lived link to a CAR',
  params,
  query: carQuery,
  response: z.object({
    /** Relative to this server. */
    url: z.string(),
    expires_at: z.string(),
  }),
});

/** The last second that a date of JavaScript can name. */
const MAX_EXPIRES = 8_640_000_000_000;

export const openCarLink = endpoint({
  method: 'GET',
  path: '/api/v1/car',
  access: 'public',
  summary: 'Download the CAR behind a link',
  answers: car,
  query: z.object({
    /** Who has made the link: it opens what they may read. */
    user: z.string().max(200),
    asset: idOf('dataset or model'),
    revision: idOf('revision'),
    path: z.string().max(2000).default(''),
    /** Seconds since 1970. */
    expires: z.coerce.number().int().min(0).max(MAX_EXPIRES),
    signature: z.string().max(100),
  }),
});
