import { imageCalls } from '@bakehouse/contract/deployments/images';
import { beforeEach, expect, test } from 'vitest';
import type { TestUser } from '../../../testing/test-server.ts';
import { testServing } from '../../../testing/test-serving.ts';
import { insertFlux, insertModel } from '../../deployments/testing/test-models.ts';

const { server } = await testServing();
let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp();
});

const asked = (model_id: string) => [{ body: { model_id, user_id: ada.userId } }, { as: ada }] as const;

const none = [null, null];
const naming = (parts: Record<string, unknown>) =>
  JSON.stringify({ _class_name: 'FluxKontextPipeline', text_encoder: none, text_encoder_2: none, ...parts });

test.each([
  [
    'of another pipeline',
    { 'model_index.json': '{"_class_name": "WanPipeline"}' },
    'names the pipeline WanPipeline',
  ],
  ['with a damaged index', { 'model_index.json': '{' }, 'has no model_index.json of Diffusers'],
  [
    'that is an adapter',
    { 'model_index.json': null, 'pytorch_lora_weights.safetensors': 'weights' },
    'This is a LoRA: deploy the model that it was trained on, and choose the LoRA with each picture',
  ],
  [
    'without weights',
    { 'transformer/diffusion_pytorch_model.safetensors': null },
    'has no weights in safetensors in its folder transformer',
  ],
  [
    'without its autoencoder',
    { 'vae/diffusion_pytorch_model.safetensors': null },
    'has no weights in safetensors in its folder vae',
  ],
  [
    'without its scheduler',
    { 'scheduler/scheduler_config.json': null, 'scheduler/notes.txt': '' },
    'has no scheduler/scheduler_config.json',
  ],
  [
    'without a text encoder listed in its index',
    { 'model_index.json': naming({ text_encoder_2: ['transformers', 'T5EncoderModel'] }) },
    'has no weights in safetensors in its folder text_encoder',
  ],
  [
    'with one of two text encoders',
    {
      'model_index.json': naming({ text_encoder: 'CLIPTextModel' }),
      'text_encoder/model.safetensors': 'CLIP',
    },
    'has no weights in safetensors in its folder text_encoder_2',
  ],
  [
    'without a tokenizer',
    {
      'model_index.json': naming({ tokenizer: ['transformers', 'CLIPTokenizer'] }),
      'text_encoder/model.safetensors': 'CLIP',
      'text_encoder_2/model.safetensors': 'T5',
      'tokenizer/vocab.json': '{}',
    },
    'has no tokenizer_2',
  ],
  [
    'with a missing shard',
    {
      'transformer/diffusion_pytorch_model.safetensors': null,
      'transformer/diffusion_pytorch_model-00001-of-00002.safetensors': 'weights',
      'transformer/diffusion_pytorch_model.safetensors.index.json': '{}',
    },
    'Odd is incomplete: transformer/diffusion_pytorch_model-00002-of-00002.safetensors is missing',
  ],
])('refuses a model %s', async (_what, files, message) => {
  const content = {
    'model_index.json': '{"_class_name": "FluxKontextPipeline"}',
    'README.md': '',
    'transformer/diffusion_pytorch_model.safetensors': 'weights',
    'vae/diffusion_pytorch_model.safetensors': 'weights of the autoencoder',
    'scheduler/scheduler_config.json': '{}',
    ...files,
  };
  const kept = Object.fromEntries(
    Object.entries(content).flatMap(([path, text]) => (text === null ? [] : [[path, text]])),
  );
  const { assetId } = await insertModel(server.services, ada, 'Odd', kept);
  await expect(server.request(imageCalls.flux.deploy, ...asked(assetId))).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(message),
  });
});

test('a FLUX model that cannot edit can be deployed as FLUX but not as Kontext', async () => {
  const files = { 'model_index.json': '{"_class_name": "FluxPipeline"}' };
  const { assetId } = await insertFlux(server.services, ada, 'Flux', files);
  await expect(server.request(imageCalls['flux-kontext'].deploy, ...asked(assetId))).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining('is not a FLUX Kontext model'),
  });
  expect(await server.request(imageCalls.flux.quote, ...asked(assetId))).toMatchObject({ title: 'Flux' });
});
