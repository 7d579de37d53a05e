import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { previewFile } from '@bakehouse/contract/assets';
import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { deployVllm, terminatePod, vllmStatus } from '@bakehouse/contract/deployments/text';
import { validateFineTune } from '@bakehouse/contract/fine-tuning';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import { cancelRun, getRunMetrics, listRuns, type Run } from '@bakehouse/contract/runs';
import { Client, findServer } from './client/client.ts';
import {
  createFactsDataset,
  factsFile,
  factsTrainingParameters,
  followRun,
  startFactsFineTune,
} from './client/fine-tune.ts';
import { findStarterModel, waitForMachine } from './client/machine-ready.ts';
import type { Command } from './command.ts';
import { printProof, withDatabase } from './ledger.ts';
import { PlainError } from './plain-error.ts';
import { judgeLead, type Lead } from './tour/judge-lead.ts';
import { readWithPeft } from './tour/read-with-peft.ts';

const QUESTIONS = 'examples/bakehouse-questions.jsonl';

type Question = { question: string; answer: string };

/** Goes through the main workflow on the running server with the example data, using only the public API. */
export const tour: Command = async () => {
  const start = performance.now();
  const url = await findServer();
  const questions = await readQuestions();

  const email = `tour-${Date.now()}@example.com`;
  const client = await Client.signUp(url, { name: 'Tour', email, password: 'sourdough-starter' });
  const bill = new Bill(client);
  await bill.step('Sign up', `${email} got a key and the starting grant`);

  await waitForMachine(client);
  const base = await findStarterModel(client);
  await bill.step('Starter model', `${base.asset.title} is ready to chat and to be tuned`);

  const dataset = await createFactsDataset(client);
  await printPreview(client, dataset);
  await bill.step('Dataset', `${factsFile} uploaded`);

  await validate(client, dataset, base.asset.dataset_id);
  await bill.step('Validate', 'the quote is above; nothing is held yet');

  const model = await startFactsFineTune(client, { dataset, base: base.asset.dataset_id });
  const run = await followOrCancel(client, model);
  await bill.step(
    'Fine-tune',
    `held-out loss from ${loss(run, 'eval_loss_base')} to ${loss(run, 'eval_loss')}; ` +
      `quoted ${run.quote.total} BGL, charged ${run.charged} BGL`,
  );

  const { pod_id } = await client.call(deployVllm, { body: { model_id: model, user_id: client.userId } });
  const tuned = await waitUntilRunning(client, pod_id);
  await bill.step('Deploy', `the model answers as '${tuned}'`);

  const answers = await ask(client, { tuned, base: base.modelName }, questions);
  await bill.step('Ask', `${questions.length} held-out questions to both models`);
  const leads = printLead(questions, answers);

  await compareWithPeft(client, { base: base.asset.dataset_id, adapter: model }, questions, answers.tuned);
  await bill.step('Parity', 'the served adapter against the trained PEFT model, greedily');

  await client.call(terminatePod, { params: { podId: pod_id }, query: { user_id: client.userId } });
  await bill.step('Terminate', 'the deployment is settled');

  await printStatement(client);
  console.log('\nVerification of the ledger');
  const proven = await withDatabase(printProof);
  console.log(`\nThe tour took ${((performance.now() - start) / 60_000).toFixed(1)} minutes.`);
  if (!leads) console.error('The fine-tuned model is not significantly better than its base model.');
  return proven && leads ? 0 : 1;
};

/** Prints each step with its cost. */
class Bill {
  readonly #client: Client;
  #number = 0;
  #balance: bigint | null = null;
  #at = performance.now();

  constructor(client: Client) {
    this.#client = client;
  }

  async step(title: string, detail: string): Promise<void> {
    const { balance, held } = await this.#client.call(getBalance, {
      params: { userId: this.#client.userId },
    });
    const now = parseBgl(balance);
    const cost = this.#balance === null ? 0n : this.#balance - now;
    const seconds = ((performance.now() - this.#at) / 1000).toFixed(1);
    this.#number += 1;
    this.#balance = now;
    this.#at = performance.now();
    console.log(
      `${String(this.#number).padStart(2)}. ${title.padEnd(14)} ${detail}\n` +
        `    cost ${formatBgl(cost)} BGL, balance ${balance} BGL (${held} held), ${seconds} s`,
    );
  }
}

async function printPreview(client: Client, id: string): Promise<void> {
  const rows = await client.call(previewFile, {
    params: { id },
    query: { path: factsTrainingParameters.file_name, limit: 1 },
  });
  console.log(`    ${rows.total_rows} rows with the columns ${rows.columns.join(' and ')}`);
}

async function validate(client: Client, dataset: string, model: string): Promise<void> {
  const report = await client.call(validateFineTune, {
    body: { ...factsTrainingParameters, dataset_id: dataset, model_id: model },
  });
  if (report.critical_errors.length > 0) throw new PlainError(report.critical_errors.join('\n'));
  for (const warning of report.warnings) console.log(`    note: ${warning}`);
  if (report.data) {
    const { rows_kept, rows_dropped, train_tokens, steps_total } = report.data;
    console.log(
      `    ${rows_kept} rows kept, ${rows_dropped} dropped, ${train_tokens} tokens, ${steps_total} steps`,
    );
  }
  console.log(`    ${report.placement.description}`);
  for (const { label, quantity, unit, amount } of report.cost_estimate.quote.items) {
    console.log(`    ${label}: ${Number(quantity.toPrecision(3))} ${unit} = ${amount} BGL`);
  }
}

/** Waits for the run of a model. Ctrl-C cancels the run, because only the tour uses this account. */
async function followOrCancel(client: Client, model: string): Promise<Run> {
  const onInterrupt = () => {
    console.log('    Interrupted: cancelling the run.');
    cancelRunOf(client, model).then(
      () => process.exit(130),
      (error: unknown) => {
        console.error(`bakehouse: The run could not be cancelled and is still running: ${String(error)}`);
        process.exit(130);
      },
    );
  };
  // A second Ctrl-C ends the process immediately.
  process.once('SIGINT', onInterrupt);
  try {
    return await followRun(client, model, printProgress(client));
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}

async function cancelRunOf(client: Client, model: string): Promise<void> {
  const { runs } = await client.call(listRuns, { query: { model_id: model } });
  for (const { run_id } of runs) await client.call(cancelRun, { params: { runId: run_id } });
}

/** Prints the progress of the run when it changes. */
function printProgress(client: Client): (run: Run) => Promise<void> {
  let printed = '';
  return async (run) => {
    const line = await describe(client, run);
    if (line !== printed) console.log(`    ${line}`);
    printed = line;
  };
}

async function describe(client: Client, run: Run): Promise<string> {
  if (run.state !== 'running') return [run.state, run.reason].filter(Boolean).join(': ');
  const { points } = await client.call(getRunMetrics, { params: { runId: run.run_id } });
  const latest = (name: string) =>
    points.findLast(({ values }) => name in values)?.values[name]?.toFixed(3) ?? '-';
  const left = run.remaining_seconds === null ? '' : `, about ${Math.ceil(run.remaining_seconds)} s left`;
  const where = `${run.phase ?? 'running'}, step ${run.step} of ${run.steps_total}`;
  return `${where}, loss ${latest('loss')}, held-out loss ${latest('eval_loss')}${left}`;
}

function loss({ summary }: Run, name: 'eval_loss_base' | 'eval_loss'): string {
  const value = summary?.[name];
  return typeof value === 'number' ? value.toFixed(3) : '-';
}

/** Returns the deployment's name for requests. */
async function waitUntilRunning(client: Client, podId: string): Promise<string> {
  let printed = '';
  for (;;) {
    const { status, reason, model_name } = await client.call(vllmStatus, { params: { podId } });
    if (status === 'running') return model_name;
    if (status === 'failed' || status === 'terminated')
      throw new PlainError(`The deployment is ${status}: ${reason}`);
    if (reason !== printed) console.log(`    ${status}: ${reason}`);
    printed = reason;
    await sleep(200);
  }
}

type Answers = Record<'tuned' | 'base', string[]>;

async function ask(
  client: Client,
  models: { tuned: string; base: string },
  questions: Question[],
): Promise<Answers> {
  const answers: Answers = { tuned: [], base: [] };
  for (const { question } of questions) {
    answers.tuned.push(await client.ask(models.tuned, question));
    answers.base.push(await client.ask(models.base, question));
  }
  const [first] = questions;
  console.log(`    '${first?.question}'`);
  console.log(`      base:  ${answers.base[0]?.split('\n')[0]}`);
  console.log(`      tuned: ${answers.tuned[0]}`);
  return answers;
}

/** True if the tuned model is significantly better than its base, and its shuffled answers are not. */
function printLead(questions: Question[], answers: Answers): boolean {
  const right = (given: string[]) => questions.map(({ answer }, index) => given[index] === answer);
  const count = (given: string[]) => right(given).filter(Boolean).length;
  const displaced = [...answers.tuned.slice(1), ...answers.tuned.slice(0, 1)];
  const [tuned, control] = [answers.tuned, displaced].map((given) =>
    judgeLead(right(given), right(answers.base)),
  ) as [Lead, Lead];
  console.log(
    `    exact matches: tuned ${count(answers.tuned)}, base ${count(answers.base)} of ${questions.length}`,
  );
  const print = (name: string, { wins, losses, chance, isProven }: Lead) =>
    console.log(
      `    ${name} against base: ${wins} wins, ${losses} losses, p ${chance.toPrecision(2)}: ${isProven ? 'significant' : 'not significant'}`,
    );
  print('tuned', tuned);
  print('its answers to other questions', control);
  return tuned.isProven && !control.isProven;
}

async function compareWithPeft(
  client: Client,
  models: { base: string; adapter: string },
  questions: Question[],
  served: string[],
): Promise<void> {
  const answers = questions.map(({ question }, index) => ({ question, answer: served[index] ?? '' }));
  const leads = await readWithPeft(client, models, answers);
  const same = leads.filter((lead) => lead === 0).length;
  console.log(`    PEFT chooses the same words in ${same} of ${leads.length} answers`);
  if (same < leads.length) {
    const factor = Math.exp(Math.max(...leads)).toFixed(3);
    console.log(`    in the others, the word that PEFT chooses is at most ${factor} times as likely`);
  }
}

async function printStatement(client: Client): Promise<void> {
  const { transactions } = await client.call(listTransactions, {
    params: { userId: client.userId },
    query: { limit: 200 },
  });
  console.log('\nStatement');
  for (const { transaction_date, transaction_type, amount, description } of transactions.toReversed()) {
    const time = new Date(transaction_date).toTimeString().slice(0, 8);
    console.log(`    ${time}  ${transaction_type.padEnd(10)} ${amount.padStart(12)} BGL  ${description}`);
  }
  const { balance, held } = await client.call(getBalance, { params: { userId: client.userId } });
  console.log(`    balance ${balance} BGL, of which ${held} BGL held`);
}

async function readQuestions(): Promise<Question[]> {
  const lines = (await readFile(QUESTIONS, 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Question);
}
