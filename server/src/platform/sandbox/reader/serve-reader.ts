import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import * as z from 'zod';
import { type End, frame, framed, readFrames } from './frames.ts';

const LINE_BYTES_MAX = 1024 * 1024;
const NEWLINE = 10;

const program = z.object({
  argv: z.tuple([z.string()], z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
});

/**
 * Runs programs for callers of the socket. A caller's first line names the program, and pieces of its input
 * follow. The output and exit status are sent back. If the caller disconnects, its program is killed with all
 * child processes. Returns a function that stops the server.
 */
export async function serveReader(socketPath: string): Promise<() => void> {
  await rm(socketPath, { force: true });
  const running = new Set<ChildProcess>();
  const server = createServer((socket) => {
    // Ignore errors: the caller has disconnected, and its program is killed below.
    socket.on('error', () => undefined);
    serve(socket, running).catch((error: unknown) => {
      socket.end(frame('stderr', Buffer.from(`${String(error)}\n`)));
    });
  });
  server.listen(socketPath);
  await once(server, 'listening');
  // Lets the server connect, because it is in the same group.
  await chmod(socketPath, 0o660);
  return () => {
    server.close();
    for (const child of running) killGroup(child);
  };
}

async function serve(socket: Socket, running: Set<ChildProcess>): Promise<void> {
  const { argv, cwd, env } = program.parse(JSON.parse(await readLine(socket)));
  const [command, ...args] = argv;
  const child = spawn(command, args, { cwd, env, detached: true, stdio: 'pipe' });
  running.add(child);
  const ended = new Promise<End>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const kill = () => killGroup(child);
  socket.once('close', kill);
  // Ignore errors: the program may end before it has read its input.
  child.stdin.on('error', () => undefined);
  feed(socket, child.stdin).catch(kill);
  const sent = [
    child.stdout.pipe(framed('stdout')).on('data', (piece) => socket.write(piece)),
    child.stderr.pipe(framed('stderr')).on('data', (piece) => socket.write(piece)),
  ];
  try {
    const end = await ended;
    await Promise.all(sent.map((stream) => finished(stream)));
    socket.end(frame('end', Buffer.from(JSON.stringify(end))));
  } finally {
    kill();
    running.delete(child);
    if (running.size === 0) killLeft();
  }
}

/** Forwards a program's input. Reads on after the input has ended, to notice when the caller disconnects. */
async function feed(socket: Socket, stdin: Writable): Promise<void> {
  for await (const { channel, bytes } of readFrames(socket)) {
    if (channel === 'end') stdin.end();
    else stdin.write(bytes);
  }
}

/** Returns the first line, and leaves the following bytes in the stream. */
async function readLine(socket: Socket): Promise<string> {
  let read = Buffer.alloc(0);
  for (;;) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) {
      if (socket.readableEnded || socket.destroyed) throw new Error('No program was named');
      await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
      continue;
    }
    read = Buffer.concat([read, chunk]);
    const at = read.indexOf(NEWLINE);
    if (at >= 0) {
      if (at + 1 < read.length) socket.unshift(read.subarray(at + 1));
      return read.subarray(0, at).toString();
    }
    if (read.length > LINE_BYTES_MAX) throw new Error('The line that names the program is too long');
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // Ignore the error: all processes of the group have ended.
  }
}

/** Kills processes that have left their program's group: in a container, all except the first process. */
function killLeft(): void {
  if (process.pid !== 1) return;
  try {
    process.kill(-1, 'SIGKILL');
  } catch {
    // Ignore the error: there are no processes left.
  }
}
