import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../config.ts';
import { ensureLayer } from '../../engine/host/environment/ensure-layer.ts';
import { environmentPython } from '../../engine/host/environment/environment.ts';
import { freePort } from '../ports/free-port.ts';

export type S3Credentials = { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };

/** Calls that create two users. They run before signatures are verified. */
const UNSIGNED_CALLS = 5;
const EVERYTHING = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] };

/**
 * For tests and benchmarks: an S3 server that verifies signatures and deletes its files at the end. `owner`
 * may do everything, and `stranger` nothing. It is installed at its first use.
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
    if (child.exitCode !== null) throw new Error(`S3 server did not start:\n${await said}`);
    await sleep(100);
  }
  const owner = await makeUser(endpoint, 'owner');
  await iam(endpoint, {
    ...{ Action: 'PutUserPolicy', UserName: 'owner', PolicyName: 'everything' },
    PolicyDocument: JSON.stringify(EVERYTHING),
  });
  const stranger = await makeUser(endpoint, 'stranger');
  /** Switches the verification of signatures on or off. The server cannot verify presigned links. */
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
    // The server reads the service of a call (iam) from this header.
    headers: { authorization: 'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request' },
    body: new URLSearchParams({ ...call, Version: '2010-05-08' }),
  });
  if (!answer.ok) throw new Error(`S3 server rejected ${call.Action}: ${await answer.text()}`);
  return answer.text();
}
