import { text } from 'node:stream/consumers';

/** Runs inside a program that `runConfined` started: passes its input to `work` and returns the answer. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a program knows what its other end sends
export async function answerConfined<I>(work: (input: I) => unknown): Promise<void> {
  const input: I = JSON.parse(await text(process.stdin));
  process.stdout.write(JSON.stringify(await work(input)));
}
