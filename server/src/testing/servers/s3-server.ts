import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../config.ts';
import { ensureLayer } from '../../engine/host/environment/ensure-layer.ts';
import { environmentPython } from '../../engine/host/environment/environment.ts';
import { freePort } from '../ports/free-port.ts';

export type S3Credentials = { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };

/** What is called before signatures are looked at: it makes two users. */
const UNSIGNED_CALLS = 5;
const EVERYTHING = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] };

/**
 * For tests and benchmarks: an S3 server that verifies signatures, whose files go with it. `owner` may do everything, and
 * `stranger` nothing. Its program is installed by whoever wants it first.
 */
export async function startS3Server() {
  const config = readConfig(process.env);
  await ensureLayer(config, 's3', () => undefined);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const { PATH } = process.env;
  const python = await environmentPython(config, 's3');
  const child = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    env: {
      ...{ PATH, INITIAL_NO_AUTH_ACTION_COUNT: String(UNSIGNED_CALLS) },
      S3_IGNORE_SUBDOMAIN_BUCKETNAME: 'true',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(child.stderr);
  const ended = once(child, 'exit');
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  while (!(await fetch(`${endpoint}/moto-api/`).catch(() => null))) {
    if (child.exitCode !== null) throw new Error(`The S3 server did not start:\n${await said}`);
    await sleep(100);
  }
  const owner = await makeUser(endpoint, 'owner');
  await iam(endpoint, {
    ...{ Action: 'PutUserPolicy', UserName: 'owner', PolicyName: 'everything' },
    PolicyDocument: JSON.stringify(EVERYTHING),
  });
  const stranger = await makeUser(endpoint, 'stranger');
  /** Whether signatures are looked at: those of links it does not know. */
  const verify = async (whether: boolean) => {
    const body = whether ? '0' : 'inf';
    await fetch(`${endpoint}/moto-api/reset-auth`, { method: 'POST', body });
  };
  return { endpoint, owner, stranger, verify, close };
}

async function makeUser(endpoint: string, UserName: string): Promise<S3Credentials> {
  await iam(endpoint, { Action: 'CreateUser', UserName });
  const made = await iam(endpoint, { Action: 'CreateAccessKey', UserName });
  const tag = (name: string) => new RegExp(`<${name}>(.+)</${name}>`).exec(made)?.[1] ?? '';
  return { AWS_ACCESS_KEY_ID: tag('AccessKeyId'), AWS_SECRET_ACCESS_KEY: tag('SecretAccessKey') };
}

async function iam(endpoint: string, call: Record<string, string>): Promise<string> {
  const answer = await fetch(endpoint, {
    method: 'POST',
    // Says which service is meant.
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request' },
    body: new URLSearchParams({ ...call, Version: '2010-05-08' }),
  });
  if (!answer.ok) throw new Error(`The S3 server refused ${call.Action}: ${await answer.text()}`);
  return answer.text();
}
