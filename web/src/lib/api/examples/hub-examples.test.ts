import { expect, test } from 'vitest';
import { type HubRepository, hubEnvironment, hubExamples } from './hub-examples.ts';

const model: HubRepository = {
  type: 'model',
  id: 'ada/baker',
  paths: ['README.md', 'config.json', 'model.safetensors'],
  dataPaths: [],
  pipeline: null,
  base: null,
};

const labels = (changes: Partial<HubRepository>) =>
  hubExamples({ ...model, ...changes }).map(({ label }) => label);
const first = (changes: Partial<HubRepository>) => hubExamples({ ...model, ...changes })[0]?.code;

test('loads each kind with the matching library', () => {
  expect(labels({})).toEqual(['transformers', 'huggingface_hub', 'hf', 'curl']);
  expect(labels({ paths: ['adapter_config.json', 'config.json'] })[0]).toBe('peft');
  expect(labels({ pipeline: 'FluxKontextPipeline' })[0]).toBe('diffusers');
  expect(labels({ pipeline: 'ParisPipeline' })[0]).toBe('huggingface_hub');
  expect(labels({ paths: ['model.gguf'] })[0]).toBe('huggingface_hub');
  expect(labels({ type: 'dataset', dataPaths: ['a.csv'] })[0]).toBe('datasets');
  expect(labels({ type: 'dataset', paths: [] })).toEqual(['huggingface_hub', 'hf']);
});

test('loads an adapter onto its base model, if known', () => {
  const paths = ['adapter_config.json'];
  expect(first({ paths, base: 'bakehouse/starter' })).toContain('from_pretrained("bakehouse/starter")');
  expect(first({ paths })).toContain('AutoPeftModelForCausalLM.from_pretrained("ada/baker")');
});

test('data files are detected as splits by name, or one is loaded explicitly', () => {
  const dataset = { type: 'dataset', dataPaths: ['train.csv', 'data/test-00000-of-00001.csv'] } as const;
  expect(first(dataset)).toContain('load_dataset("ada/baker")');
  expect(first({ ...dataset, dataPaths: ['a.csv', 'b.csv'] })).toContain(
    'load_dataset("ada/baker", data_files="a.csv")',
  );
});

test('the examples contain no API key, and paths are URL-encoded', () => {
  expect(hubEnvironment('https://bake.example')).toBe(
    'export HF_ENDPOINT=https://bake.example/hub\nexport HF_TOKEN=your-api-key',
  );
  const curl = hubExamples({ ...model, type: 'dataset', paths: ['my data/a #1.csv'] }).at(-1)?.code;
  expect(curl).toContain('"$HF_ENDPOINT/datasets/ada/baker/resolve/main/my%20data/a%20%231.csv"');
});
