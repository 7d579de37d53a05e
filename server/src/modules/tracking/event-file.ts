import { type InputOf } from '@bakehouse/contract/endpoint';
import { type downloadEvents as endpoint } from '@bakehouse/contract/trackers';
import { selectMetrics } from '../../engine/reports/attempt-log.ts';
import { type Context } from '../../platform/context.ts';
import { Answer } from '../../platform/http/answer.ts';
import { contentDisposition } from '../assets/files/content-type.ts';
import { findOwnRun } from '../fine-tuning/runs/runs.ts';

/** Returns the metrics of one of the caller's runs as a TensorBoard event file. Throws AppError 'not_found'. */
export async function downloadEvents(
  { db, caller: { userId } }: Context,
  { params: { runId } }: InputOf<typeof endpoint>,
): Promise<Answer> {
  const { run } = await findOwnRun(db, { runId, userId });
  const name = `events.out.tfevents.${Math.floor(run.createdAt.getTime() / 1000)}.${run.id}`;
  return new Answer(eventFile({ startedAt: run.createdAt, points: await selectMetrics(db, run.id) }), {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': contentDisposition('attachment', name),
    },
  });
}

type Point = { step: number; at: Date; values: Record<string, number> };

/**
 * Encodes points as a TensorBoard event file. A file consists of TensorFlow records: a length with its
 * checksum, then the data with its checksum. The data of a record is an `Event` of event.proto. The first
 * event has the version.
 */
export function eventFile({ startedAt, points }: { startedAt: Date; points: Point[] }): Buffer {
  const version = Buffer.concat([wallTime(startedAt), field(FILE_VERSION, Buffer.from('brain.Event:2'))]);
  return Buffer.concat([version, ...points.map(toEvent)].map(toRecord));
}

/** Protobuf tags (number and type) of the fields in event.proto. */
const WALL_TIME = 0x09;
const STEP = 0x10;
const FILE_VERSION = 0x1a;
const SUMMARY = 0x2a;
const VALUE = 0x0a;
const TAG = 0x0a;
const SIMPLE_VALUE = 0x15;

function toEvent({ step, at, values }: Point): Buffer {
  const summary = Object.entries(namedValues(values)).map(([tag, value]) => {
    const number = Buffer.alloc(5);
    number[0] = SIMPLE_VALUE;
    number.writeFloatLE(value, 1);
    return field(VALUE, Buffer.concat([field(TAG, Buffer.from(tag)), number]));
  });
  const stepField = Buffer.concat([Buffer.from([STEP]), varint(step)]);
  return Buffer.concat([wallTime(at), stepField, field(SUMMARY, Buffer.concat(summary))]);
}

function wallTime(at: Date): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = WALL_TIME;
  bytes.writeDoubleLE(at.getTime() / 1000, 1);
  return bytes;
}

function field(key: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([key]), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

function toRecord(data: Buffer): Buffer {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([length, checksum(length), data, checksum(data)]);
}

/** TensorFlow's masked CRC-32C. */
function checksum(data: Buffer): Buffer {
  const crc = crc32c(data);
  const masked = Buffer.alloc(4);
  masked.writeUInt32LE(((((crc >>> 15) | (crc << 17)) >>> 0) + 0xa282ead8) >>> 0);
  return masked;
}

/** The Castagnoli polynomial, reflected. */
const CASTAGNOLI = 0x82f63b78;
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1;
  return crc >>> 0;
});

function crc32c(data: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Returns the name that Transformers uses for a metric, so that curves can be compared with other runs. */
function metricName(name: string): string {
  return name.startsWith('eval_') ? `eval/${name.slice('eval_'.length)}` : `train/${name}`;
}

export function namedValues(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [metricName(name), value]));
}
