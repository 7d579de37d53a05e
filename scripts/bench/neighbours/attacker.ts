import { setTimeout as pause } from 'node:timers/promises';
import { chatCompletions } from '@bakehouse/contract/chat';
import { validateFineTune } from '@bakehouse/contract/training';

/**
 * A program that attacks a server until it is ended: `node attacker.ts '{"attack": …, "url": …}'`. It
 * runs beside the measurement and not in it, so that what it does costs the measurement no time.
 */
export type Attack = keyof typeof attacks;

export type Target = {
  url: string;
  /** A session and a key of the attacker; strangers' attacks use neither. */
  cookie: string;
  apiKey: string;
  /** The starter model's name in chat. */
  model: string;
  /** A fine-tune of the data set that holds `expanding_parquet.py`'s file, as `validateFineTune` takes it. */
  fineTune: object;
};

/** What can take longer than anybody would wait is given up and begun anew. */
export const STRIKE_MS = 20_000;
/** Between two requests, as far as a limit of requests lets a single attacker go. */
const PAUSE_MS = 50;

export const attacks = {
  /** A stranger sends JSON that takes long to parse. */
  'large JSON': ({ url }: Target) => {
    const body = JSON.stringify({
      email: 'a@example.com',
      password: Array.from({ length: 1_100_000 }, () => 'x'),
    });
    return () => post(`${url}/api/auth/sign-in/email`, { origin: url }, body);
  },
  /** A signed-in user has passwords checked, which costs memory and time by intent. */
  'password checks': ({ url, cookie }: Target) => {
    const body = JSON.stringify({ currentPassword: 'not-the-password', newPassword: 'another-password' });
    return () => post(`${url}/api/auth/change-password`, { origin: url, cookie }, body);
  },
  /** A data file that expands to gigabytes is read for an estimate. */
  'expanding data': ({ url, apiKey, fineTune }: Target) => {
    const body = JSON.stringify(fineTune);
    return () => post(`${url}${validateFineTune.path}`, { 'x-api-key': apiKey }, body);
  },
  /** A schema whose pattern keeps the model server's one loop busy for minutes. */
  'hostile schema': (target: Target) => {
    const schema = { type: 'string', pattern: `^${'(a|b|)'.repeat(300)}$` };
    return chat(target, {
      max_tokens: 8,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    });
  },
  /** A schema of so many strings that making its grammar takes the model server's loop. */
  'long list of values': (target: Target) => {
    const schema = { type: 'string', enum: Array.from({ length: 20_000 }, (_, n) => `value ${n}`) };
    return chat(target, {
      max_tokens: 8,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    });
  },
  /** The probability of every word of the vocabulary beside each token. */
  'all probabilities': (target: Target) =>
    chat(target, { max_tokens: 25, logprobs: true, top_logprobs: 49_152 }),
};

function chat({ url, apiKey, model }: Target, parameters: object): () => Promise<void> {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Say a.' }], ...parameters });
  return () => post(`${url}${chatCompletions.path}`, { 'x-api-key': apiKey }, body);
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    signal: AbortSignal.timeout(STRIKE_MS),
  });
  await response.arrayBuffer();
}

if (import.meta.main) {
  const { attack, ...target } = JSON.parse(process.argv[2] ?? '') as Target & { attack: Attack };
  const strike = attacks[attack](target);
  for (;;) {
    // Refused, cut off or given up: an attacker goes on.
    await strike().catch(() => undefined);
    await pause(PAUSE_MS);
  }
}
