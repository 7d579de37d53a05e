/** A child process for driver tests. The title of its spec says what it does. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';

const [, , command, specFile = ''] = process.argv;
const spec = JSON.parse(readFileSync(specFile, 'utf8')) as { title: string; work_dir: string };
const [verb, value] = spec.title.split(' ');
const print = (line: string) => process.stdout.write(`${line}\n`);
const idle = () => setInterval(() => undefined, 1000);

/** Tries to access each named file and address, and reports the results. */
async function spy(tries: { read: string[]; write: string[]; connect: string[] }) {
  const answers: Record<string, string> = {};
  const attempt = (name: string, act: () => unknown) => {
    try {
      act();
      answers[name] = 'done';
    } catch (error) {
      answers[name] = (error as NodeJS.ErrnoException).code ?? String(error);
    }
  };
  for (const file of tries.read) attempt(file, () => readFileSync(file));
  for (const file of tries.write) attempt(`to ${file}`, () => writeFileSync(file, 'x'));
  for (const socket of tries.connect) {
    answers[socket] = await new Promise<string>((resolve) => {
      const connection = connect(socket, () => resolve('done'));
      connection.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'refused'));
    });
  }
  return answers;
}

/** What to do at a stop request. Installed before the process reports that it runs. */
const atStop: Record<string, () => void> = {
  idle: () => {
    print('saved');
    process.exit(0);
  },
  stubborn: () => print('no'),
};
const stop = atStop[verb ?? ''];
if (stop) process.on('SIGTERM', stop);
print(`${command} ${spec.title}`);
switch (verb) {
  case 'idle':
  case 'stubborn':
    idle();
    break;
  case 'parent': {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(path.join(spec.work_dir, 'child.pid'), String(child.pid));
    idle();
    break;
  }
  case 'runaway': {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      detached: true,
      stdio: 'ignore',
    });
    child.unref();
    print(String(child.pid));
    idle();
    break;
  }
  case 'chatter':
    for (let line = 0; line < Number(value); line += 1) print(`line ${line} ${'x'.repeat(1000)}`);
    idle();
    break;
  case 'gpus':
    print(`${process.env.CUDA_DEVICE_ORDER} ${process.env.CUDA_VISIBLE_DEVICES}`);
    break;
  case 'spy':
    print(JSON.stringify(await spy(JSON.parse(value ?? ''))));
    process.exit();
  case 'exit':
    process.exit(Number(value));
  default:
    throw new Error(`There is no script ${spec.title}`);
}
