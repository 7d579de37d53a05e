import { connect } from 'node:net';
import { type End, frame, framed, readFrames } from './frames.ts';

/*
 * Runs a program in the reader, and forwards its input, output and exit status.
 * `node ask-reader-program.ts SOCKET '{"argv": […], "cwd": "…"}'`
 */

const FAILED = 70;

const [socketPath = '', words = '{}'] = process.argv.slice(2);
const socket = connect(socketPath);
socket.write(`${JSON.stringify({ ...JSON.parse(words), env: process.env })}\n`);
// Send the end of the input as a message: closing the socket would tell the reader that the caller is gone.
process.stdin
  .pipe(framed('stdin'))
  .on('end', () => socket.write(frame('end', Buffer.alloc(0))))
  .pipe(socket, { end: false });
let end: End | null = null;
for await (const { channel, bytes } of readFrames(socket)) {
  if (channel === 'end') end = JSON.parse(bytes.toString()) as End;
  else if (!process[channel].write(bytes))
    await new Promise((resolve) => process[channel].once('drain', resolve));
}
if (!end) {
  process.stderr.write('The reader has ended\n');
  process.exitCode = FAILED;
} else if (end.signal) process.kill(process.pid, end.signal);
else process.exitCode = end.code ?? FAILED;
process.stdin.destroy();
