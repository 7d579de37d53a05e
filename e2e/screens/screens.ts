import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import type { UserObjects } from './create-user-objects.ts';

/** A page, or a sheet over a page, with the states that it can have. */
export type Screen<Made> = {
  /** Path of its route. */
  route: string;
  at: string | ((made: Made) => string);
  /** Text that is visible when everything has loaded. */
  full: string | RegExp;
  /** Text that is visible when requests have failed. Screens without it send no requests. */
  failed?: string;
  /** Pattern of the requests to hold and to fail. Defaults to all. */
  reads?: RegExp;
  /** Text that a new account sees. */
  empty?: string;
  /** For pages of operators: the text that other users see. */
  denied?: string;
  /**
   * For a screen that looks like another one: true if only the texts differ, `same` for the same page at
   * another URL.
   */
  alike?: true | 'same';
};

/** Screens for visitors without an account. */
export const visitorScreens: Screen<null>[] = [
  { route: '/', at: '/', full: 'Sign in' },
  { route: '/', at: '/?form=sign-up', full: 'Sign up' },
  { route: '/', at: '/?form=forgot-password', full: 'Forgot your password?' },
  { route: '/', at: '/?form=new-password&token=nothing', full: 'New password' },
  { route: '/docs', at: '/docs', full: 'Getting started' },
  {
    route: '/share/$token',
    at: '/share/nothing',
    full: 'This link does not work',
    failed: 'This page cannot be shown',
  },
  {
    route: '/paris',
    at: '/paris',
    full: 'Prompt',
    failed: 'Could not check whether this model is available',
  },
];

const dashboard: Screen<UserObjects> = {
  route: '/dashboard',
  at: '/dashboard',
  full: 'Bakehouse facts',
  failed: 'Datasets could not be loaded',
  empty: 'Your data: csv, jsonl, json, txt or parquet.',
};

const assets: Screen<UserObjects>[] = [
  {
    route: '/dataset',
    at: '/dataset',
    full: 'Bakehouse facts',
    failed: 'Your datasets could not be loaded',
    empty: 'No datasets yet',
  },
  {
    route: '/dataset/$id/description',
    at: ({ dataset }) => `/dataset/${dataset}/description`,
    full: 'bakehouse-facts.csv',
    failed: 'This dataset cannot be shown',
  },
  {
    route: '/dataset/$id/description',
    at: ({ emptyDataset }) => `/dataset/${emptyDataset}/description`,
    full: 'No files yet',
  },
  {
    route: '/dataset/$id/description',
    at: ({ dataset }) => `/dataset/${dataset}/description?tab=rows`,
    full: 'Rows 1 to',
    failed: 'This file cannot be shown',
    reads: /\/preview\b/,
  },
  {
    route: '/dataset/$id/description',
    at: ({ dataset }) => `/dataset/${dataset}/description?tab=ipfs`,
    full: 'Files of the newest version',
    failed: 'The IPFS addresses could not be loaded',
    reads: /\/ipfs\b/,
  },
  {
    route: '/dataset/$id/description',
    at: ({ emptyDataset }) => `/dataset/${emptyDataset}/description?tab=ipfs`,
    full: 'IPFS is off',
    alike: true,
  },
  {
    route: '/dataset/$id/description',
    at: ({ dataset }) => `/dataset/${dataset}/description?tab=sql`,
    full: 'Examples',
    failed: 'The tables could not be loaded',
    reads: /\/sql\/tables\b/,
  },
  { route: '/$', at: '/datasets/nobody/nothing', full: 'Dataset not found' },
  { route: '/$', at: '/models/nobody/nothing', full: 'Model not found', alike: true },
  {
    route: '/drafts',
    at: '/drafts',
    full: 'hours.md',
    failed: 'Your drafts could not be loaded',
    empty: 'No drafts yet',
  },
  {
    route: '/drafts/$id',
    at: ({ draft }) => `/drafts/${draft}`,
    full: 'Prompt and chunks',
    failed: 'This draft cannot be shown',
  },
  { route: '/model', at: '/model', full: 'Bakehouse facts model', failed: 'Your models could not be loaded' },
  {
    route: '/model/$id/description',
    at: ({ starter }) => `/model/${starter}/description`,
    full: 'Starter model',
    failed: 'This model cannot be shown',
  },
  {
    route: '/model/$id/description',
    at: ({ model }) => `/model/${model}/description`,
    full: 'Bakehouse facts model',
  },
  {
    route: '/model/source',
    at: '/model/source',
    full: /No restricted models yet|Crumb 70B/,
    failed: 'The restricted models could not be loaded',
  },
  {
    route: '/model/source/$id/description',
    at: '/model/source/nobody%2Fnothing/description',
    full: 'Model not found',
    failed: 'This model cannot be shown',
  },
  {
    route: '/model-hub',
    ...{ at: '/model-hub', full: 'bakery/rye-7b', failed: 'Hugging Face could not be searched' },
  },
];

const work: Screen<UserObjects>[] = [
  {
    route: '/llm-training',
    at: '/llm-training',
    full: 'Bakehouse facts model',
    failed: 'Your runs could not be loaded',
    empty: 'No runs yet',
  },
  {
    route: '/diffusion-training',
    at: '/diffusion-training',
    full: 'No runs yet',
    failed: 'Your runs could not be loaded',
  },
  { route: '/runs', at: '/runs', full: 'Bakehouse facts model', alike: true },
  {
    route: '/runs/$id',
    at: ({ run }) => `/runs/${run}`,
    full: 'Bakehouse facts model',
    failed: 'This run cannot be shown',
  },
  {
    route: '/runs/$id',
    at: ({ run }) => `/runs/${run}`,
    full: 'Bakehouse facts model',
    failed: 'The curves could not be loaded',
    reads: /\/metrics\b/,
    alike: true,
  },
  { route: '/runs/$id', at: '/runs/nothing', full: 'Run not found' },
  {
    route: '/chat',
    at: '/chat',
    full: /^Ask .* something\.$/,
    failed: 'The models could not be loaded',
  },
  {
    route: '/my-deployments',
    at: '/my-deployments',
    full: 'SmolLM2-135M-Instruct',
    failed: 'Your deployments could not be loaded',
    empty: 'Nothing is deployed',
  },
  {
    route: '/my-deployments/$podId',
    at: ({ pod }) => `/my-deployments/${pod}`,
    full: 'Terminate',
    failed: 'This deployment cannot be shown',
  },
  {
    route: '/my-deployments/images',
    at: '/my-deployments/images',
    full: 'Kontext starter',
    failed: 'Your deployments could not be loaded',
    empty: 'No picture or video model is deployed',
  },
  {
    route: '/my-deployments/images/$podId',
    at: ({ imagePod }) => `/my-deployments/images/${imagePod}`,
    full: 'Terminate',
    failed: 'This deployment cannot be shown',
  },
];

const generations: Screen<UserObjects>[] = [
  {
    route: '/instant-generation',
    at: '/instant-generation',
    full: 'a loaf of bread',
    failed: 'Your generations could not be loaded',
    empty: 'No generations yet',
  },
  {
    route: '/gallery',
    at: '/gallery',
    full: 'a loaf of bread',
    failed: 'Your generations could not be loaded',
    empty: 'No generations yet',
  },
  {
    route: '/gallery',
    at: ({ picture, otherPicture }) => `/gallery?compare=${JSON.stringify([picture, otherPicture])}`,
    full: 'Where they differ',
    failed: 'This picture cannot be shown',
    reads: /\/generations\/\w/,
  },
  {
    route: '/gallery/$id',
    at: ({ picture }) => `/gallery/${picture}`,
    full: 'a loaf of bread',
    failed: 'This generation cannot be shown',
  },
  {
    route: '/paris',
    at: '/paris',
    full: 'a loaf of bread',
    failed: 'Could not check whether this model is available',
    empty: 'What you generate appears here',
  },
  {
    route: '/paris',
    at: '/paris',
    full: 'a loaf of bread',
    failed: 'Your pictures could not be loaded',
    reads: /\/generations$/,
    alike: true,
  },
  {
    route: '/flux-kontext',
    at: '/flux-kontext',
    full: 'Picture',
    failed: 'Could not check whether this model is available',
    empty: 'What you generate appears here',
  },
  {
    route: '/wan',
    at: '/wan',
    full: 'First frame',
    failed: 'Could not check whether this model is available',
    empty: 'What you generate appears here',
  },
];

const account: Screen<UserObjects>[] = [
  {
    route: '/transactions',
    at: '/transactions',
    full: 'Starting credits',
    failed: 'Error Loading Transactions',
  },
  {
    route: '/transactions',
    at: '/transactions?view=statement',
    full: 'Starting credits',
    failed: 'Error Loading Transactions',
  },
  {
    route: '/buy-bagels',
    at: '/buy-bagels',
    full: /Chat and API/,
    failed: 'The prices could not be loaded',
  },
  {
    route: '/profile',
    at: '/profile',
    full: 'Sessions',
    failed: 'Your sessions could not be loaded',
  },
  {
    route: '/api-key',
    at: '/api-key',
    full: 'Keys for your programs',
    failed: 'Your API keys could not be loaded',
    empty: 'You have no other API keys yet',
  },
  {
    route: '/invite',
    at: '/invite',
    full: 'No one has joined yet',
    failed: 'Your invitation could not be loaded',
  },
  { route: '/verify-email', at: '/verify-email?token=nothing', full: 'Your address could not be confirmed' },
  { route: '/docs', at: '/docs', full: 'Getting started' },
  { route: '/docs/$', at: '/docs/ledger', full: 'Ledger' },
  { route: '/$', at: '/nowhere', full: 'Page not found' },
];

const sheets: Screen<UserObjects>[] = [
  { route: '/dashboard', at: '/dashboard?sheet=contact', full: 'Contact Us' },
  { route: '/dashboard', at: '/dashboard?sheet=shortcuts', full: 'Keyboard shortcuts' },
  { route: '/dashboard', at: '/dashboard?sheet=create-dataset', full: 'Create Dataset' },
  { route: '/dashboard', at: '/dashboard?sheet=create-model', full: 'Create Model' },
  { route: '/dashboard', at: '/dashboard?sheet=train-lora', full: 'Train a LoRA' },
  {
    route: '/dashboard',
    at: '/dashboard?sheet=send-credits',
    full: 'Recipient',
  },
  {
    route: '/dashboard',
    at: '/dashboard?sheet=transaction-history',
    full: 'Starting credits',
    failed: 'Error Loading Transactions',
  },
];

/** Generators with results are listed separately. */
const isListed = (name: GeneratorName) => generations.some(({ route }) => route === `/${name}`);

/** All generators have the same page, which reads a table. */
const generators: Screen<UserObjects>[] = generatorNames.flatMap((name) => {
  const screen = (path: string, alike: true | 'same'): Screen<UserObjects> => ({
    ...{
      route: path,
      at: path,
      full: isListed(name) ? 'Prompt' : 'A small starter model is used instead',
      alike,
    },
  });
  const again = screen(`/bakery/${name}`, 'same');
  return isListed(name) ? [again] : [screen(`/${name}`, true), again];
});

/** Screens for a signed-in user. */
export const userScreens: Screen<UserObjects>[] = [
  dashboard,
  ...assets,
  ...work,
  ...generations,
  ...account,
  ...sheets,
  ...generators,
];
