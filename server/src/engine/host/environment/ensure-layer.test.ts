import fs, { access, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ProgramFailed } from '../../../platform/processes/run-program.ts';
import { spyOnBuiltin } from '../../../testing/spy-on-builtin.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { readProgressLine } from '../preparation/starter-model.ts';
import { ensureLayer, UV } from './ensure-layer.ts';
import { environmentDir, explainFailure, hasLayer, isNewEnough } from './environment.ts';

/** An environment with one layer in its own cache, and a uv that creates environments with a no-op Python. */
async function installed() {
  spyOnBuiltin(fs, 'statfs').mockResolvedValue({ bavail: 1024 ** 3, bsize: 1024 } as never);
  const cacheDir = await temporaryFolder();
  const settings = { cacheDir, python: 'python3', torchIndex: undefined };
  const uv = path.join(cacheDir, 'uv', 'bin', 'uv');
  await mkdir(path.dirname(uv), { recursive: true });
  const script = `#!/bin/sh
    case "$1" in
      --version) echo '${UV.replace('==', ' ')}' ;;
      venv)
        for dir; do :; done
        rm -rf "$dir"; mkdir -p "$dir/bin"
        printf '#!/bin/sh\n' > "$dir/bin/python"; chmod +x "$dir/bin/python" ;;
    esac`;
  await writeFile(uv, script);
  await chmod(uv, 0o755);
  await ensureLayer(settings, 'serving', ignoreProgress);
  return { settings, python: path.join(await environmentDir(settings), 'bin', 'python') };
}

function ignoreProgress(): void {}

it.each([
  ['3.11.7', true],
  ['3.14.0rc1', true],
  ['3.10.12', false],
  ['2.7.18', false],
  ['', false],
])('Python %s is new enough: %s', (version, expected) => {
  expect(isNewEnough(version)).toBe(expected);
});

it.each([
  ['error: failed to write: No space left on device (os error 28)', /^The disk of \/cache is full/],
  [
    'The virtual environment was not created successfully because ensurepip is not available.',
    /python3-venv/,
  ],
  ['error: Failed to fetch: `https://index.example/simple/`', /^The packages could not be downloaded/],
  ['warning: one\nerror: something new', /^The packages could not be prepared: error: something new$/],
])('explains %j', (output, sentence) => {
  expect(explainFailure('The packages', new ProgramFailed('uv', 2, output.split('\n')), '/cache')).toMatch(
    sentence,
  );
});

it("reads the runtime's progress and nothing else", () => {
  expect(readProgressLine('{"phase": "dequantising", "done": 68, "total": 272}')).toEqual({
    detail: 'Dequantising',
    progress: 0.25,
  });
  expect(readProgressLine('Loading weights')).toBeNull();
});

it('recreates an environment whose Python is gone, but not one whose Python runs', async () => {
  const { settings, python } = await installed();
  await writeFile(`${python}.mine`, '');
  await ensureLayer(settings, 'serving', ignoreProgress);
  await access(`${python}.mine`);

  await rm(python);
  await symlink('/usr/bin/python-that-an-upgrade-removed', python);
  expect(await hasLayer(settings, 'serving')).toBe(true);
  await ensureLayer(settings, 'serving', ignoreProgress);
  await expect(access(`${python}.mine`)).rejects.toThrow('ENOENT');
  expect(await readFile(python, 'utf8')).toContain('#!/bin/sh');
  expect(await hasLayer(settings, 'serving')).toBe(true);
});

it('deletes the stamp of a layer if its environment cannot be recreated', async () => {
  const { settings, python } = await installed();
  await rm(python);
  await writeFile(
    path.join(settings.cacheDir, 'uv', 'bin', 'uv'),
    `#!/bin/sh\necho '${UV.replace('==', ' ')}'\ntest "$1" = --version`,
  );
  await expect(ensureLayer(settings, 'serving', ignoreProgress)).rejects.toMatchObject({
    code: 'unavailable',
  });
  expect(await hasLayer(settings, 'serving')).toBe(false);
});

it('counts a layer as installed if a layer that contains it is installed', async () => {
  const { settings } = await installed();
  expect(await hasLayer(settings, 'training')).toBe(false);
  await ensureLayer(settings, 'tests', ignoreProgress);
  expect(await hasLayer(settings, 'training')).toBe(true);
});

it('installs vLLM into its own folder, without changing the training environment', async () => {
  const { settings, python } = await installed();
  await ensureLayer({ ...settings, torchIndex: 'https://index.example/cpu' }, 'vllm', ignoreProgress);
  const vllm = await environmentDir(settings, 'vllm');
  await access(path.join(vllm, 'bin', 'python'));
  expect(path.dirname(vllm)).toBe(path.join(settings.cacheDir, 'vllm'));
  expect(await hasLayer(settings, 'vllm')).toBe(true);
  expect(await hasLayer(settings, 'training')).toBe(false);

  await rm(path.join(vllm, 'bin', 'python'));
  await ensureLayer(settings, 'vllm', ignoreProgress);
  expect(await hasLayer(settings, 'vllm')).toBe(true);
  expect(await hasLayer(settings, 'serving'), 'what was installed beside it is still there').toBe(true);
  await access(python);
});

it('reads its lock file only once', async () => {
  const { settings } = await installed();
  const reading = spyOnBuiltin(fs, 'readFile');
  const reads = () =>
    reading.mock.calls.filter(([file]) => typeof file === 'string' && file.endsWith('.lock')).length;
  for (let asked = 0; asked < 5; asked += 1) expect(await hasLayer(settings, 'serving')).toBe(true);
  expect(reading, 'what was installed').toHaveBeenCalledTimes(5);
  expect(reads()).toBe(0);
});
