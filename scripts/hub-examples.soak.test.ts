import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createAsset, getAsset, listAssets, uploadFile } from '@bakehouse/contract/assets';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../server/src/config.ts';
import { environmentPython } from '../server/src/engine/host/environment/environment.ts';
import { readLines } from '../server/src/platform/processes/processes.ts';
import { hubEnvironment, hubExamples } from '../web/src/lib/api/examples/hub-examples.ts';
import { toRepository } from '../web/src/modules/datasets/snippets/to-repository.ts';
import { Client } from './client/client.ts';
import { startSeparateServer } from './client/separate-server.ts';

const run = promisify(execFile);

/**
 * Runs programs that it receives, one JSON line each, and returns their output. One process for all, because
 * importing the libraries takes longest.
 */
const RUNNER = `
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(json.loads(line), {"__name__": "__main__"})
            failure = None
        except Exception:
            failure = traceback.format_exc()
    print(json.dumps({"printed": printed.getvalue(), "failure": failure}), flush=True)
`;

/** Creates and pushes a base model and an adapter for it. Both are small enough for a test. */
const pushModels = (namespace: string) => `
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

words = {word: at for at, word in enumerate(["[UNK]", "[EOS]", "Bread", "is", "made", "of", "rye"])}
split = Tokenizer(WordLevel(words, unk_token="[UNK]"))
split.pre_tokenizer = Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=split, unk_token="[UNK]", eos_token="[EOS]", model_input_names=["input_ids", "attention_mask"])
config = LlamaConfig(vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
model = LlamaForCausalLM(config)
model.push_to_hub("${namespace}/base")
tokenizer.push_to_hub("${namespace}/base")
loaded = LlamaForCausalLM.from_pretrained("${namespace}/base")
adapted = get_peft_model(loaded, LoraConfig(r=2, target_modules=["q_proj"]))
adapted.push_to_hub("${namespace}/tuned")
tokenizer.push_to_hub("${namespace}/tuned")
`;

test('the lines that load a dataset and a model work unchanged', { timeout: 600_000 }, async () => {
  const server = await startSeparateServer({ BAKEHOUSE_PREPARE: 'false' });
  const cwd = await mkdtemp(path.join(tmpdir(), 'hub-examples-'));
  onTestFinished(async () => {
    await server.stop();
    await rm(cwd, { recursive: true });
  });
  const { ada, shell, runPython, examplesOf, send } = await reader(server.url, cwd);

  const facts = await ada.call(createAsset, {
    body: { dataset_type: 'RAW', title: 'Facts', user_id: ada.userId },
  });
  await send(facts, 'my data/facts one.csv', 'a,b\n1,2\n3,4\n');
  const dataset = await examplesOf(facts);
  expect(await runPython(dataset.get('datasets'))).toContain('num_rows: 2');
  expect(await runPython(dataset.get('huggingface_hub'))).toContain('snapshots');
  await shell(dataset.get('hf') ?? '');
  expect(await shell('cat "Facts/my data/facts one.csv"')).toBe('a,b\n1,2\n3,4\n');
  await shell(dataset.get('curl') ?? '');
  expect(await shell('cat facts%20one.csv')).toBe('a,b\n1,2\n3,4\n');
  // Two files with different columns are not loaded as splits of one dataset.
  await send(facts, 'other.csv', 'c\n5\n');
  expect(await runPython((await examplesOf(facts)).get('datasets'))).toContain('num_rows: 2');

  const { repo_id } = await ada.call(getAsset, { params: { id: facts } });
  const [namespace = ''] = repo_id.split('/');
  await runPython(pushModels(namespace));
  const { datasets: models } = await ada.call(listAssets, { query: { types: 'MODEL', owner: ada.userId } });
  const idOf = (title: string) => models.find((one) => one.title === title)?.dataset_id ?? '';
  const base = await examplesOf(idOf('base'));
  expect(await runPython(base.get('transformers'))).toContain('Bread is made of');
  // PEFT finds the base model in the adapter's configuration. A base model named in the card, as after a run,
  // has priority.
  const found = (await examplesOf(idOf('tuned'))).get('peft');
  expect(found).toContain('AutoPeftModelForCausalLM');
  expect(await runPython(found)).toContain('Bread is made of');
  await send(idOf('tuned'), 'README.md', `---\nbase_model: ${namespace}/base\n---\n`);
  const named = (await examplesOf(idOf('tuned'))).get('peft');
  expect(named).toContain(`AutoModelForCausalLM.from_pretrained("${namespace}/base")`);
  expect(await runPython(named)).toContain('Bread is made of');
});

type Answer = { printed: string; failure: string | null };

/** Returns a user of the server, and a process that runs the examples as that user. */
async function reader(url: string, cwd: string) {
  const ada = await Client.signUp(url, {
    name: 'Ada',
    email: 'ada@example.com',
    password: 'sourdough-starter',
  });
  const python = await environmentPython(readConfig(process.env));
  const { HF_ENDPOINT: _, HF_TOKEN: __, ...inherited } = process.env;
  const PATH = `${path.dirname(python)}:${process.env.PATH}`;
  const env = { ...inherited, PATH, HF_HOME: cwd, HF_HUB_DISABLE_PROGRESS_BARS: '1' };
  const environment = hubEnvironment(url).replace('your-api-key', ada.apiKey);
  const shell = async (lines: string) =>
    (await run('sh', ['-c', `set -e\n${environment}\n${lines}`], { cwd, env })).stdout;
  const runner = spawn('sh', ['-c', `${environment}\nexec "$0" -c "$1"`, python, RUNNER], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void runner.kill());
  const answers = readLines(runner.stdout);
  const runPython = async (code = ''): Promise<string> => {
    runner.stdin.write(`${JSON.stringify(code)}\n`);
    const { printed, failure } = JSON.parse((await answers.next()).value ?? '{}') as Answer;
    expect(failure, code).toBeNull();
    return printed;
  };
  const examplesOf = async (id: string) => {
    const asset = await ada.call(getAsset, { params: { id } });
    return new Map(hubExamples(toRepository(asset)).map(({ label, code }) => [label, code]));
  };
  const send = async (id: string, name: string, content: string) => {
    const body = new FormData();
    body.append('path', name);
    body.append('data_file', new Blob([content]), 'file');
    const headers = { 'x-api-key': ada.apiKey };
    await fetch(new URL(endpointUrl(uploadFile.path, { id }), url), { method: 'POST', headers, body });
  };
  return { ada, shell, runPython, examplesOf, send };
}
