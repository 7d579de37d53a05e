import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { choose } from '../choose.ts';
import { journey } from '../journey.ts';
import { signUp } from '../sign-up.ts';

const STARTER = path.join(import.meta.dirname, '../../models/starter-kontext');

journey(
  "an image model's folder is uploaded as is, and the model can be deployed",
  async ({ page, onTestFinished }) => {
    const made = await mkdtemp(path.join(tmpdir(), 'folder-'));
    onTestFinished(() => rm(made, { recursive: true }));
    const folder = path.join(made, 'kontext');
    await cp(STARTER, folder, { recursive: true });
    await writeFile(path.join(folder, '.gitattributes'), '*.safetensors filter=lfs\n');
    await signUp(page);
    await page.goto('/model?sheet=create-model');
    const next = page.getByRole('button', { name: 'Continue' });
    await page.getByRole('radio', { name: 'Upload a model' }).click();
    await next.click();
    await page.getByLabel('Model name').fill('My Kontext');
    await choose(page, 'Base model type', 'qwen');
    await next.click();
    await page.getByLabel('Choose folder').setInputFiles(folder);
    await page.getByText('The hidden file .gitattributes was skipped').waitFor();
    await page.getByText('transformer/diffusion_pytorch_model.safetensors').waitFor();
    await page.getByRole('button', { name: 'Create model' }).click();
    await page.getByText('Can be deployed', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Finish' }).click();
    await page.getByText('Your Model is Ready!').waitFor();
    await page.getByRole('link', { name: 'Manage Model' }).click();
    await page.getByRole('link', { name: 'Deploy as a picture model' }).waitFor();
    await page.getByRole('tab', { name: 'Files (11)' }).click();
    await page.getByText('vae/diffusion_pytorch_model.safetensors').waitFor();
  },
);
