import { expect, test } from 'vitest';
import { chosenFiles, droppedFiles } from './chosen-file.ts';

const named = (name: string, relativePath = '') =>
  Object.defineProperty(new File(['x'], name), 'webkitRelativePath', { value: relativePath });
const inFolder = (path: string) => named(path.slice(path.lastIndexOf('/') + 1), path);
const pathsOf = (choice: { files: { path: string }[] }) => choice.files.map(({ path }) => path);

test('file paths are their names, and a hidden file chosen explicitly is kept', () => {
  expect(chosenFiles([named('config.json'), named('.gitattributes')])).toMatchObject({
    files: [{ path: 'config.json' }, { path: '.gitattributes' }],
    hidden: [],
  });
});

test("a folder's paths omit its own name and hidden files", () => {
  const choice = chosenFiles(
    [
      'FLUX.1-dev/.gitattributes',
      'FLUX.1-dev/.cache/huggingface/download/vae/config.json.metadata',
      'FLUX.1-dev/model_index.json',
      'FLUX.1-dev/vae/.DS_Store',
      'FLUX.1-dev/vae/config.json',
      'FLUX.1-dev/a.b/c..d.json',
    ].map(inFolder),
  );
  expect(pathsOf(choice)).toEqual(['a.b/c..d.json', 'model_index.json', 'vae/config.json']);
  expect(choice.hidden).toEqual([
    '.gitattributes',
    '.cache/huggingface/download/vae/config.json.metadata',
    'vae/.DS_Store',
  ]);
});

type Tree = { [name: string]: Tree | null };

/** Directory entries as browsers provide them, in batches of two. */
function entryOf(name: string, content: Tree | null): object {
  if (content === null) {
    return { name, isDirectory: false, file: (take: (file: File) => void) => take(named(name)) };
  }
  const createReader = () => {
    const left = Object.entries(content).map(([child, of]) => entryOf(child, of));
    return { readEntries: (take: (some: object[]) => void) => take(left.splice(0, 2)) };
  };
  return { name, isDirectory: true, createReader };
}

function drop(tree: Tree): DataTransfer {
  const items = Object.entries(tree).map(([name, of]) => ({ webkitGetAsEntry: () => entryOf(name, of) }));
  const files = Object.keys(tree).map((name) => named(name));
  return { items, files } as unknown as DataTransfer;
}

const vae: Tree = { 'config.json': null, 'a.safetensors': null, 'b.safetensors': null, '.DS_Store': null };

test.each([
  ['files', { 'a.json': null, '.env': null }, ['a.json', '.env'], []],
  [
    'one folder, which stands for what is in it',
    { 'FLUX.1-dev': { 'model_index.json': null, vae } },
    ['model_index.json', 'vae/a.safetensors', 'vae/b.safetensors', 'vae/config.json'],
    ['vae/.DS_Store'],
  ],
  [
    'what is in a folder',
    { 'model_index.json': null, vae },
    ['model_index.json', 'vae/a.safetensors', 'vae/b.safetensors', 'vae/config.json'],
    ['vae/.DS_Store'],
  ],
  ['an empty folder', { 'FLUX.1-dev': {} }, [], []],
] as [string, Tree, string[], string[]][])('dropped %s', async (_what, tree, paths, hidden) => {
  const choice = await droppedFiles(drop(tree));
  expect(pathsOf(choice)).toEqual(paths);
  expect(choice.hidden).toEqual(hidden);
});
