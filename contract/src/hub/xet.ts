import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { hubError, revisionParams } from './shared.ts';

/*
 * The Xet protocol, with which hub clients upload large files. Files are split into chunks, which are stored
 * in xorbs. A shard lists the chunks of each file. Only uploads use Xet here; downloads use `/resolve`.
 */

/** A UTC day such as 2026-11-26. An upload session of a client belongs to it. */
const session = z.string().regex(/^\d{4}-\d\d-\d\d$/, 'There is no such session');
const hash = z.string().regex(/^[0-9a-f]{64}$/, 'A hash has 64 digits, 0 to 9 and a to f');

export const getXetWriteToken = endpoint({
  method: 'GET',
  path: '/hub/api/:type/:namespace/:name/xet-write-token/:revision',
  access: 'key',
  scopes: [],
  summary: 'Start an upload by Xet, as the hub does',
  params: revisionParams,
  query: z.object({ create_pr: z.string().optional() }),
  error: hubError,
  response: z.object({ accessToken: z.string(), exp: z.int(), casUrl: z.string() }),
});

export const putXorb = endpoint({
  method: 'POST',
  path: '/hub/xet/:session/v1/xorbs/default/:hash',
  access: 'key',
  summary: 'Upload a xorb, which contains chunks of files',
  params: z.object({ session, hash }),
  upload: 'bytes',
  error: hubError,
  response: z.object({ was_inserted: z.boolean() }),
});

export const putShard = endpoint({
  method: 'POST',
  path: '/hub/xet/:session/v1/shards',
  access: 'key',
  summary: 'Upload a shard, which lists the chunks of each file',
  params: z.object({ session }),
  upload: 'bytes',
  error: hubError,
  response: z.object({ result: z.literal(1) }),
});

/** For clients that show progress. Returns one JSON object per line; the last line contains the result. */
export const streamShard = endpoint({
  method: 'POST',
  path: '/hub/xet/:session/v2/shards',
  access: 'key',
  summary: 'Upload a shard and stream the progress of assembling its files',
  params: z.object({ session }),
  upload: 'bytes',
  error: hubError,
  answers: { 'application/x-ndjson': null },
});
