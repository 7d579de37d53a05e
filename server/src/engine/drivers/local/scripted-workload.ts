/** A child process for tests of the driver: does what its spec's title says. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [, , command, specFile = ''] = process.argv;
const spec = JSON.parse(readFileSync(specFile, 'utf8')) as { title: string; work_dir: string };
const [verb, value] = spec.title.split(' ');
const print = (line: string) => process.stdout.write(`${line}\n`);
const idle = () => setInterval(() => undefined, 1000);

print(`${command} ${spec.title}`);
switch (verb) {
  case 'idle':
    process.on('SIGTERM', () => {
      print('saved');
      process.exit(0);
    });
    idle();
    break;
  case 'stubborn':
    process.on('SIGTERM', () => print('no'));
    idle();
    break;
  case 'parent': {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    writeFileSync(path.join(spec.work_dir, 'child.pid'), String(child.pid));
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
  case 'exit':
    process.exit(Number(value));
  default:
    throw new Error(`There is no script ${spec.title}`);
}
