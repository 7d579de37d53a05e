import { type ByteSource, bytesOf, type Cursor, cursorOver, DamagedFile } from './byte-source.ts';
import { isZip, listZip, readZipEntry } from './zip.ts';

/** What is thrown for a file that could run code where it is loaded; the reason follows 'is not accepted:'. */
export class UnsafeFile extends Error {}

const STEPS_MAX = 2_000_000;
const PICKLE_BYTES_MAX = 64 * 1024 * 1024;
const NAME_BYTES_MAX = 256;

/** First pickle of PyTorch's file format before 1.6: five pickles, then raw tensors. */
const TORCH_MAGIC = Buffer.from('80028a0a6cfc9c46f9206aa850192e', 'hex');
const TORCH_PICKLES = 5;

/**
 * What PyTorch's own `weights_only` loader admits, as far as weights need it; all of it only builds
 * data. `torch.storage._load_from_bytes` is not here: it loads a second pickle that no scan sees.
 */
const SAFE_IMPORTS = new Set([
  ...['OrderedDict', 'Counter', 'defaultdict'].map((name) => `collections.${name}`),
  ...['dict', 'list', 'set', 'frozenset', 'tuple', 'int', 'float', 'complex', 'bool', 'bytearray'].flatMap(
    (name) => [`builtins.${name}`, `__builtin__.${name}`],
  ),
  '_codecs.encode',
  'torch.Size',
  'torch.Tensor',
  'torch.device',
  'torch.nn.parameter.Parameter',
  'torch.nn.parameter.Buffer',
  'torch.serialization._get_layout',
  'torch.storage.UntypedStorage',
  'torch.storage.TypedStorage',
  ...[
    '_rebuild_tensor',
    '_rebuild_tensor_v2',
    '_rebuild_tensor_v3',
    '_rebuild_parameter',
    '_rebuild_parameter_with_state',
    '_rebuild_qtensor',
    '_rebuild_sparse_tensor',
    '_rebuild_meta_tensor_no_storage',
  ].map((name) => `torch._utils.${name}`),
  ...[
    'float64',
    'float32',
    'float16',
    'bfloat16',
    'complex64',
    'complex128',
    'int64',
    'int32',
    'int16',
    'int8',
    'uint8',
    'bool',
    'float8_e4m3fn',
    'float8_e5m2',
  ].map((name) => `torch.${name}`),
  ...[
    'Double',
    'Float',
    'Half',
    'BFloat16',
    'Long',
    'Int',
    'Short',
    'Char',
    'Byte',
    'Bool',
    'ComplexFloat',
    'ComplexDouble',
    'QInt8',
    'QUInt8',
    'QInt32',
    'Untyped',
  ].map((name) => `torch.${name}Storage`),
  ...['numpy.core.multiarray', 'numpy._core.multiarray'].flatMap((module) => [
    `${module}._reconstruct`,
    `${module}.scalar`,
  ]),
  'numpy.ndarray',
  'numpy.dtype',
]);

/**
 * Checks a file that PyTorch or Python might unpickle: a PyTorch archive, PyTorch's older format,
 * or bare pickles. Every import must be one that only builds data. A file in which an unpickler
 * would stop before any import passes: it can do nothing. Throws UnsafeFile or DamagedFile.
 */
export function checkPickles(source: ByteSource): void {
  if (isZip(source)) return checkTorchArchive(source);
  if (isTar(source))
    throw new UnsafeFile('it is a tar archive; save it again with a current PyTorch, or as safetensors');
  const legacy = source.size > TORCH_MAGIC.length && source.read(0, TORCH_MAGIC.length).equals(TORCH_MAGIC);
  const cursor = cursorOver(source);
  const budget = { steps: STEPS_MAX };
  for (let pickles = 0; !cursor.atEnd() && !(legacy && pickles === TORCH_PICKLES); pickles += 1) {
    if (!runPickle(cursor, budget)) return;
  }
}

function checkTorchArchive(source: ByteSource): void {
  const entries = listZip(source);
  if (entries.some(({ name }) => name.endsWith('/constants.pkl') || name.includes('/code/'))) {
    throw new UnsafeFile('it is a TorchScript program; save its weights instead');
  }
  const budget = { steps: STEPS_MAX };
  for (const entry of entries.filter(({ name }) => name.endsWith('.pkl'))) {
    const cursor = cursorOver(bytesOf(Buffer.from(readZipEntry(source, entry, PICKLE_BYTES_MAX))));
    runPickle(cursor, budget);
  }
}

/** Whether Python's tarfile would open it: the header's sum of its own bytes is right. */
function isTar(source: ByteSource): boolean {
  if (source.size < 512) return false;
  const header = source.read(0, 512);
  const stated = Number.parseInt(header.toString('latin1', 148, 156), 8);
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  return stated === sum;
}

/** A value on the unpickler's stack as far as it matters here: known text, anything else, or a mark. */
type Value = string | null | typeof MARK;
const MARK = Symbol('mark');

/**
 * Follows one pickle as an unpickler would, without building anything. True when it came to its
 * end, false when an unpickler would have failed. Throws UnsafeFile at the first import that is
 * not on the list. Where the stack is not as it should be it goes on, so that it sees at least
 * what any unpickler would.
 */
function runPickle(cursor: Cursor, budget: { steps: number }): boolean {
  const stack: Value[] = [];
  const memo = new Map<number, Value>();
  const push = (value: Value): void => void stack.push(value);
  const pop = (): Value => stack.pop() ?? null;
  const popMany = (count: number): void => void stack.splice(Math.max(0, stack.length - count));
  const popToMark = (): void => void stack.splice(Math.max(0, stack.lastIndexOf(MARK)));
  const remember = (key: number): void => void memo.set(key, stack.at(-1) ?? null);
  const recall = (key: number): void => push(memo.get(key) ?? null);
  const text = (length: number): void => {
    if (length <= NAME_BYTES_MAX) return push(cursor.take(length).toString('utf8'));
    cursor.skip(length);
    push(null);
  };
  const blob = (length: number): void => {
    cursor.skip(length);
    push(null);
  };

  try {
    for (;;) {
      budget.steps -= 1;
      if (budget.steps < 0) throw new UnsafeFile('it is too long to check');
      const op = cursor.u8();
      switch (op) {
        case 0x2e: // STOP
          return true;
        case 0x28: // MARK
          push(MARK);
          break;
        case 0x30: // POP
          pop();
          break;
        case 0x31: // POP_MARK
          popToMark();
          break;
        case 0x32: // DUP
          push(stack.at(-1) ?? null);
          break;
        case 0x46: // FLOAT
        case 0x49: // INT
        case 0x4c: // LONG
        case 0x50: // PERSID
          cursor.line();
          push(null);
          break;
        case 0x53: // STRING
          push(plainText(cursor.line().replace(/^(['"])(.*)\1$/, '$2')));
          break;
        case 0x56: // UNICODE
          push(plainText(cursor.line()));
          break;
        case 0x4a: // BININT
          blob(4);
          break;
        case 0x4b: // BININT1
          blob(1);
          break;
        case 0x4d: // BININT2
          blob(2);
          break;
        case 0x47: // BINFLOAT
          blob(8);
          break;
        case 0x4e: // NONE
        case 0x88: // NEWTRUE
        case 0x89: // NEWFALSE
        case 0x7d: // EMPTY_DICT
        case 0x5d: // EMPTY_LIST
        case 0x29: // EMPTY_TUPLE
        case 0x8f: // EMPTY_SET
        case 0x97: // NEXT_BUFFER
          push(null);
          break;
        case 0x54: // BINSTRING
        case 0x58: // BINUNICODE
          text(cursor.u32());
          break;
        case 0x55: // SHORT_BINSTRING
        case 0x8c: // SHORT_BINUNICODE
          text(cursor.u8());
          break;
        case 0x8d: // BINUNICODE8
          text(cursor.u64());
          break;
        case 0x42: // BINBYTES
        case 0x8b: // LONG4
          blob(cursor.u32());
          break;
        case 0x43: // SHORT_BINBYTES
        case 0x8a: // LONG1
          blob(cursor.u8());
          break;
        case 0x8e: // BINBYTES8
        case 0x96: // BYTEARRAY8
          blob(cursor.u64());
          break;
        case 0x61: // APPEND
        case 0x62: // BUILD
          pop();
          break;
        case 0x73: // SETITEM
          popMany(2);
          break;
        case 0x65: // APPENDS
        case 0x75: // SETITEMS
        case 0x90: // ADDITEMS
          popToMark();
          break;
        case 0x64: // DICT
        case 0x6c: // LIST
        case 0x74: // TUPLE
        case 0x6f: // OBJ
        case 0x91: // FROZENSET
          popToMark();
          push(null);
          break;
        case 0x51: // BINPERSID
        case 0x85: // TUPLE1
          pop();
          push(null);
          break;
        case 0x52: // REDUCE
        case 0x81: // NEWOBJ
        case 0x86: // TUPLE2
          popMany(2);
          push(null);
          break;
        case 0x87: // TUPLE3
        case 0x92: // NEWOBJ_EX
          popMany(3);
          push(null);
          break;
        case 0x63: // GLOBAL
          checkImport(cursor.line(), cursor.line());
          push(null);
          break;
        case 0x69: // INST
          checkImport(cursor.line(), cursor.line());
          popToMark();
          push(null);
          break;
        case 0x93: {
          // STACK_GLOBAL
          const name = pop();
          const module = pop();
          checkImport(module, name);
          push(null);
          break;
        }
        case 0x67: // GET
          recall(Number(cursor.line()));
          break;
        case 0x68: // BINGET
          recall(cursor.u8());
          break;
        case 0x6a: // LONG_BINGET
          recall(cursor.u32());
          break;
        case 0x70: // PUT
          remember(Number(cursor.line()));
          break;
        case 0x71: // BINPUT
          remember(cursor.u8());
          break;
        case 0x72: // LONG_BINPUT
          remember(cursor.u32());
          break;
        case 0x94: // MEMOIZE
          remember(memo.size);
          break;
        case 0x80: // PROTO
          cursor.skip(1);
          break;
        case 0x95: // FRAME
          cursor.skip(8);
          break;
        case 0x98: // READONLY_BUFFER
          break;
        case 0x82: // EXT1
        case 0x83: // EXT2
        case 0x84: // EXT4
          throw new UnsafeFile('it imports by registry number');
        default:
          return false;
      }
    }
  } catch (error) {
    if (error instanceof DamagedFile) return false;
    throw error;
  }
}

function checkImport(module: Value, name: Value): void {
  if (typeof module !== 'string' || typeof name !== 'string') {
    throw new UnsafeFile('it imports something under a name that it computes');
  }
  if (!SAFE_IMPORTS.has(`${module}.${name}`)) {
    throw new UnsafeFile(`it would import ${module}.${name} where it is loaded; save it as safetensors`);
  }
}

/** Text with escapes stays unknown: nobody who means well names an import so. */
function plainText(line: string): Value {
  return line.includes('\\') ? null : line;
}
