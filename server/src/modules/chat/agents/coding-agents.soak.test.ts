import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { STARTER, starterServing } from '../../deployments/testing/starter-serving.ts';

/*
 * Runs the coding agents from npm with the settings in docs/coding-agents.md. A stub replaces the model: the
 * agents' prompts are too long for a small model on a CPU.
 */
const run = promisify(execFile);
const { server, stub, nextUser } = await starterServing();

const packages = [
  ...['@anthropic-ai/claude-code@2.1.332', '@openai/codex@0.171.0'],
  ...['@qwen-code/qwen-code@0.24.4', 'opencode-ai@1.18.33'],
];
const LIMIT_MS = 900_000;
const TASK = 'How hot is the oven? Read note.txt in this folder.';
const NOTE = 'The oven has 230 degrees.';

type Place = { home: string; work: string; settings: string };
type Agent = {
  /** The tool with which each agent reads files. */
  read: [tool: string, (file: string) => object];
  command: (place: Place) => Promise<string> | string;
};

/** The agents by their headings in the document. */
const agents: [label: string, agent: Agent][] = [
  [
    'Claude Code',
    {
      read: ['Read', (file) => ({ file_path: file })],
      // The last line of the settings starts the agent.
      command: ({ settings }) => `${settings} -p '${TASK}'`,
    },
  ],
  [
    'Codex CLI',
    {
      read: ['exec_command', (file) => ({ cmd: `cat ${file}` })],
      command: async ({ home, settings }) => {
        await mkdir(path.join(home, '.codex'));
        await writeFile(path.join(home, '.codex/config.toml'), settings);
        return `codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox '${TASK}'`;
      },
    },
  ],
  [
    'OpenCode',
    {
      read: ['read', (file) => ({ filePath: file })],
      command: async ({ work, settings }) => {
        await writeFile(path.join(work, 'opencode.json'), settings);
        return `opencode run '${TASK}'`;
      },
    },
  ],
  [
    'Qwen Code',
    {
      read: ['read_file', (file) => ({ file_path: file })],
      command: ({ settings }) => `${settings} -p '${TASK}'`,
    },
  ],
];

test.each(agents)('%s reads a file and answers', { timeout: LIMIT_MS }, async (label, agent) => {
  const user = await nextUser();
  const bin = await installed();
  const [home, work] = [await temporaryFolder(), await temporaryFolder()];
  const note = path.join(work, 'note.txt');
  await writeFile(note, NOTE);
  const [tool, argumentsOf] = agent.read;
  const isRead = (messages: unknown) => JSON.stringify(messages).includes('230 degrees');
  stub.says = ({ messages }) => (isRead(messages) ? 'It is 230 degrees hot.' : 'Oven');
  stub.calls = ({ messages, tools }) => {
    const offered = ((tools ?? []) as { function: { name: string } }[]).map((one) => one.function.name);
    return offered.includes(tool) && !isRead(messages) ? { name: tool, arguments: argumentsOf(note) } : null;
  };
  const settings = await settingsOf(label, server.url);
  const command = await agent.command({ home, work, settings });
  const { PATH } = process.env;
  const env = { HOME: home, PATH: `${bin}:${PATH}`, BAKEHOUSE_API_KEY: user.apiKey };
  const { stdout, stderr } = await run('sh', ['-c', `${command} < /dev/null`], { cwd: work, env });
  expect(`${stdout}\n${stderr}`).toContain('It is 230 degrees hot.');
  expect(stub.requests.length).toBeGreaterThan(1);
});

/** Returns the first code block under the agent's heading in the documentation. */
async function settingsOf(label: string, origin: string): Promise<string> {
  const page = await readFile(
    path.resolve(import.meta.dirname, '../../../../../docs/coding-agents.md'),
    'utf8',
  );
  const section = page.split('\n## ').find((one) => one.startsWith(`${label}\n`)) ?? '';
  const [, settings = ''] = /```\w+\n(.*?)\n```/s.exec(section) ?? [];
  return settings.replaceAll('http://localhost:4080', origin).replaceAll('your-model', STARTER);
}

/** Installs the agents if they are missing, and returns the folder with their commands. */
async function installed(): Promise<string> {
  const dir = path.join(homedir(), '.cache/bakehouse/coding-agents');
  await mkdir(dir, { recursive: true });
  const flags = ['--prefix', dir, '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...flags, ...packages], { maxBuffer: 16 * 1024 ** 2 });
  const modules = path.join(dir, 'node_modules');
  await run('node', ['install.cjs'], { cwd: path.join(modules, '@anthropic-ai/claude-code') });
  await run('node', ['postinstall.mjs'], { cwd: path.join(modules, 'opencode-ai') });
  return path.join(modules, '.bin');
}
