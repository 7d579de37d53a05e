import { getAsset, getModelReadiness } from '@bakehouse/contract/assets';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { acceptLicence, licences } from '@bakehouse/contract/licences';
import { expect, test } from 'vitest';
import { testServing } from '../../../testing/test-serving.ts';
import { cloneCalls, safetensors } from '../testing/clones.ts';
import { openPublicHub } from '../testing/public-hub.ts';

const REPO = 'black-forest-labs/FLUX.1-Kontext-dev';
const LICENCE = 'flux-1-dev-non-commercial';

const numbered = (folder: string, name: string, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => {
      const number = (index: number) => String(index).padStart(5, '0');
      const path = `${folder}/${name}-${number(at + 1)}-of-${number(count)}.safetensors`;
      return [path, safetensors(1_500 + at, at)];
    }),
  );
const json = (...paths: string[]) => Object.fromEntries(paths.map((path) => [path, `{"file": "${path}"}`]));
const part = ['diffusers', 'Part'];

/** The folders and files of the published model. Small tensors replace its 57 GB of weights. */
const files: Record<string, string | Buffer> = {
  'README.md':
    '---\nlicense: other\nlicense_name: flux-1-dev-non-commercial-license\n---\n# FLUX.1 Kontext [dev]',
  'LICENSE.md': 'The licence',
  '.gitattributes': '*.safetensors filter=lfs',
  'teaser.png': Buffer.alloc(3_000, 3),
  'ae.safetensors': safetensors(2_000),
  'flux1-kontext-dev.safetensors': safetensors(9_000),
  'model_index.json': JSON.stringify({
    ...{ _class_name: 'FluxKontextPipeline', scheduler: part, transformer: part, vae: part },
    ...{ text_encoder: part, text_encoder_2: part, tokenizer: part, tokenizer_2: part },
  }),
  ...json('scheduler/scheduler_config.json', 'text_encoder/config.json', 'vae/config.json'),
  ...json('transformer/config.json', 'transformer/diffusion_pytorch_model.safetensors.index.json'),
  ...json('text_encoder_2/config.json', 'text_encoder_2/model.safetensors.index.json'),
  ...json('tokenizer/special_tokens_map.json', 'tokenizer/tokenizer_config.json', 'tokenizer/vocab.json'),
  ...json(
    'tokenizer_2/special_tokens_map.json',
    'tokenizer_2/tokenizer_config.json',
    'tokenizer_2/tokenizer.json',
  ),
  'tokenizer/merges.txt': '#version: 0.2',
  'tokenizer_2/spiece.model': Buffer.alloc(2_000, 4),
  'text_encoder/model.safetensors': safetensors(3_000),
  'vae/diffusion_pytorch_model.safetensors': safetensors(2_500),
  ...numbered('text_encoder_2', 'model', 9),
  ...numbered('transformer', 'diffusion_pytorch_model', 25),
};

test('clones the 58 files of FLUX.1 Kontext and deploys the model by its hub name', {
  timeout: 180_000,
}, async () => {
  expect(Object.keys(files)).toHaveLength(58);
  const hub = await openPublicHub([{ type: 'model', id: REPO, files }]);
  const { server } = await testServing();
  server.services.config.hubUrl = hub.url;
  const ada = await server.signUp('Ada');
  const done = await cloneCalls(server).clone(ada, REPO);
  expect(done).toMatchObject({ status: 'COMPLETED', files_total: 58 });
  const params = { params: { id: done.asset_id ?? '' } };
  expect(await server.request(getAsset, params, { as: ada })).toMatchObject({
    ...{
      title: 'FLUX.1-Kontext-dev',
      family: 'flux-kontext',
      pipeline: 'FluxKontextPipeline',
      file_count: 58,
    },
  });
  expect(await server.request(getModelReadiness, params, { as: ada })).toMatchObject({ deploy: null });
  const { version } = licences[LICENCE];
  await server.request(
    acceptLicence,
    { body: { user_id: ada.userId, licence: LICENCE, version } },
    { as: ada },
  );
  const { pod_id: podId } = await server.request(
    imageCalls['flux-kontext'].deploy,
    { body: { user_id: ada.userId, model_id: REPO } },
    { as: ada },
  );
  const deployed = await server.request(getImageDeployment, { params: { podId } }, { as: ada });
  expect(deployed).toMatchObject({ model_id: done.asset_id });
});
