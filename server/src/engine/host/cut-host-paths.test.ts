import path from 'node:path';
import { expect, it } from 'vitest';
import { cutHostPaths } from './cut-host-paths.ts';
import { runtimeDir } from './environment/environment.ts';

const config = { dataDir: '/srv/my bakery (1)/data', cacheDir: '/home/baker/.cache/bakehouse' };

it.each([
  [
    "load_model: loading model '/srv/my bakery (1)/data/workloads/7f/work/inputs/base_model/model.gguf'",
    "load_model: loading model 'model.gguf'",
  ],
  [
    'File "/home/baker/.cache/bakehouse/python/5c/site-packages/vllm/engine.py", line 3',
    'File "engine.py", line 3',
  ],
  [`File "${path.join(runtimeDir, 'src/serve/text.py')}", line 9`, 'File "text.py", line 9'],
  ['copied /home/baker/.cache/bakehouse/a.bin, /home/baker/.cache/bakehouse/b.bin', 'copied a.bin, b.bin'],
  ['No space left on device: /home/baker/.cache/bakehouse', 'No space left on device: bakehouse'],
])('shortens %s to the file name', (line, shown) => {
  expect(cutHostPaths(config, line)).toBe(shown);
});

it('leaves other text unchanged', () => {
  const line = '127.0.0.1:5122 - "POST /v1/chat/completions HTTP/1.1" 200, see https://example.com/a/b';
  expect(cutHostPaths(config, line)).toBe(line);
});
