import http from 'node:http';
import { createInterface } from 'node:readline';
import { chatCompletions } from '@bakehouse/contract/chat';

export type Answer = { tokensPerSecond: number; firstTokenMs: number };

const agent = new http.Agent({ keepAlive: true });

/** Requests one streamed answer of a fixed length. Rejects if the call is rejected or the stream breaks. */
export function ask(
  url: string,
  headers: Record<string, string>,
  model: string,
  tokens: number,
): Promise<Answer> {
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Count from one to one hundred in words.' }],
    max_tokens: tokens,
    temperature: 0,
    stream: true,
  });
  return new Promise((resolve, reject) => {
    const start = performance.now();
    let first = 0;
    let last = 0;
    let received = 0;
    const request = http.request(
      new URL(chatCompletions.path, url),
      {
        method: chatCompletions.method,
        agent,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      },
      (answer) => {
        if (answer.statusCode !== 200)
          reject(new Error(`The question was refused with ${answer.statusCode}.`));
        createInterface({ input: answer }).on('line', (line) => {
          if (!/^data:.*"content":"[^"]/.test(line)) return;
          last = performance.now();
          first ||= last;
          received += 1;
        });
        answer.once('error', reject);
        answer.once('end', () => {
          resolve({ tokensPerSecond: ((received - 1) * 1000) / (last - first), firstTokenMs: first - start });
        });
      },
    );
    request.once('error', reject);
    request.end(body);
  });
}
