import { getModelReadiness } from '@bakehouse/contract/assets';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { expect, test, vi } from 'vitest';
import { testServing } from '../../../testing/test-serving.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';

const { server, driver } = await testServing();
const { create, uploadAt } = assetCalls(server);

/** Returns weights that consist of a single number. */
function safetensors(value: number): Uint8Array<ArrayBuffer> {
  const header = JSON.stringify({ weight: { dtype: 'F32', shape: [1], data_offsets: [0, 4] } });
  const bytes = new Uint8Array(8 + header.length + 4);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(header.length), true);
  bytes.set(new TextEncoder().encode(header), 8);
  view.setFloat32(8 + header.length, value, true);
  return bytes;
}

const none = [null, null];
const index = {
  ...{ _class_name: 'FluxKontextPipeline', text_encoder: none, text_encoder_2: none },
  transformer: ['diffusers', 'FluxTransformer2DModel'],
};
const shard = (number: number) => `transformer/diffusion_pytorch_model-0000${number}-of-00002.safetensors`;
/** The files of a Kontext model as Diffusers saves it, in parts small enough to upload. */
const files: Record<string, string | Uint8Array<ArrayBuffer>> = {
  'README.md': '---\nlicense: apache-2.0\n---\n',
  'model_index.json': JSON.stringify(index),
  'scheduler/scheduler_config.json': '{}',
  'transformer/config.json': '{"of": "transformer"}',
  [shard(1)]: safetensors(1),
  [shard(2)]: safetensors(2),
  'transformer/diffusion_pytorch_model.safetensors.index.json': '{"weight_map": {}}',
  'vae/config.json': '{"of": "vae"}',
  'vae/diffusion_pytorch_model.safetensors': safetensors(3),
};

test('deploys a Kontext whose files were uploaded one by one with their paths', async () => {
  const ada = await server.signUp('Ada');
  const name = 'FLUX.1-Kontext-dev';
  const body = { model_id: `black-forest-labs/${name}`, user_id: ada.userId };
  const deploy = () => server.request(imageCalls['flux-kontext'].deploy, { body }, { as: ada });
  // Do what the error below advises.
  await expect(deploy()).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(`Upload its folder as a model named ${name}`),
  });
  const id = await create(ada, { dataset_type: 'MODEL', title: name });
  const readiness = () => server.request(getModelReadiness, { params: { id } }, { as: ada });
  for (const [path, content] of Object.entries(files)) {
    if (path === shard(2)) {
      expect((await readiness()).deploy).toBe(`${name} has no weights in safetensors in its folder vae`);
    }
    expect((await uploadAt(ada, id, path, content)).status, path).toBe(200);
  }
  expect(await readiness()).toEqual({
    deploy: null,
    train: `${name} generates pictures: choose a text model as base`,
    lora: false,
  });
  const { pod_id: podId } = await deploy();
  await vi.waitFor(
    async () =>
      expect(await server.request(getImageDeployment, { params: { podId } }, { as: ada })).toMatchObject({
        ...{ status: 'running', model_id: id },
      }),
    { interval: 50 },
  );
  const [running] = driver.running();
  const loaded = running?.spec.inputs.flatMap((input) => input.files.map(({ path }) => path));
  expect(loaded?.toSorted()).toEqual(
    Object.keys(files)
      .filter((path) => path !== 'README.md')
      .toSorted(),
  );
  const end = { params: { podId }, query: { user_id: ada.userId } };
  await server.request(imageCalls['flux-kontext'].terminate, end, { as: ada });
});
