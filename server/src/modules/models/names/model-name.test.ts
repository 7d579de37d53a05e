import { modelName } from '@bakehouse/contract/fields/model-name';
import { expect, it } from 'vitest';
import { freeModelName, toModelName } from './model-name.ts';

it.each([
  ['My Bot (v2)', 'my-bot-v2'],
  ['Crème Brûlée', 'creme-brulee'],
  ['빵집 봇', '빵집-봇'],
  ['빵집 봇'.normalize('NFD'), '빵집-봇'],
  ['हिन्दी मॉडल', 'हिन्दी-मॉडल'],
  ['パンのボット', 'パンのボット'],
  ['ﾊﾟﾝ', 'パン'],
  ['🥖️ Bot 1️⃣', 'bot-1'],
  ['葛\u{e0100}城', '葛城'],
  ['!!!', 'model'],
])('%s becomes %s', (title, name) => {
  expect(toModelName(title)).toBe(name.normalize('NFC'));
});

it.each(['빵집 봇', 'हिन्दी मॉडल', 'パンのボット', 'ลูกค้าน้ำ', 'Thực đơn'])(
  '%s is found in each Unicode form that keyboards and file systems produce',
  (title) => {
    const name = toModelName(title);
    for (const form of ['NFC', 'NFD'] as const) expect(modelName.parse(name.normalize(form))).toBe(name);
  },
);

it.each(['한', '𠀀', 'ﷺ'])('the longest name in %s has room for a numeric suffix', (letter) => {
  const name = toModelName(letter.repeat(200));
  const second = freeModelName(name, new Set([name]));
  expect(modelName.parse(second)).toBe(second);
  expect(second.isWellFormed()).toBe(true);
});
