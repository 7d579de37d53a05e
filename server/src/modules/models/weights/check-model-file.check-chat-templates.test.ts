import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { noSandbox } from '../../../platform/sandbox/sandbox.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { checkChatTemplates } from './check-model-file.ts';

const dir = await temporaryFolder();
const ENDLESS =
  '{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}';
const HONEST =
  "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}{% endfor %}";

function text(value: string): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(value)));
  return Buffer.concat([length, Buffer.from(value)]);
}

/** Returns a GGUF that contains only a template under this key. */
function gguf(template: string, key = 'tokenizer.chat_template'): Buffer {
  const head = Buffer.from('GGUF\x03\0\0\0' + '\0'.repeat(8) + '\x01' + '\0'.repeat(7), 'latin1');
  return Buffer.concat([head, text(key), Buffer.from([8, 0, 0, 0]), text(template)]);
}

async function check(name: string, content: string | Buffer, cpuSeconds?: number): Promise<void> {
  const localPath = path.join(dir, 'file');
  await writeFile(localPath, content);
  await checkChatTemplates(noSandbox(path.join(dir, 'lent')), { localPath, name, userId: 'ada' }, cpuSeconds);
}

test.each([
  ['m.gguf', gguf(ENDLESS)],
  ['named.gguf', gguf(ENDLESS, 'tokenizer.chat_template.tool_use')],
  ['chat_template.jinja', ENDLESS],
  ['additional_chat_templates/tools.jinja', `{% if tools %}${ENDLESS}{% endif %}`],
  ['tokenizer_config.json', JSON.stringify({ chat_template: ENDLESS })],
  ['tokenizer_config.json', JSON.stringify({ chat_template: [{ name: 'default', template: ENDLESS }] })],
])('refuses an endless template: %s', async (name, content) => {
  await expect(check(name, content, 1)).rejects.toMatchObject({
    code: 'invalid_request',
    publicMessage: `${name} is not accepted: its chat template takes too long to render. Use a simpler chat template.`,
  });
});

test.each([
  ['m.gguf', gguf(HONEST)],
  ['chat_template.jinja', HONEST],
  ['tokenizer_config.json', JSON.stringify({ chat_template: HONEST })],
  // The engines report errors in templates; this check ignores them.
  ['chat_template.jinja', '{% raise %}{{'],
  ['tokenizer_config.json', '{'],
  ['tokenizer_config.json', '{"chat_template": null}'],
  ['notes.txt', ENDLESS],
])('accepts any other file: %s', async (name, content) => {
  await expect(check(name, content)).resolves.toBeUndefined();
});
