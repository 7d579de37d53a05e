import { expect, test } from 'vitest';
import { readCardLicence } from './place-image-model.ts';

const FLUX = 'flux-1-dev-non-commercial';

test.each([
  ['---\nlicense: apache-2.0\ntags: [flux]\n---\n# A model', null],
  ['---\r\ntags: [flux]\r\nlicense: "MIT"\r\n---\r\n', null],
  ['---\nlicense: other\nlicense_name: flux-1-dev-non-commercial-license\n---\n', FLUX],
  ['---\ntags: [flux]\n---\nlicense: mit', FLUX],
  ['# A model\n\n---\nlicense: mit\n---\n', FLUX],
  ['---\nlicense: cc-by-nc-4.0\n---\n', FLUX],
  ['', FLUX],
])('reads the licence of the card %j', (card, licence) => {
  expect(readCardLicence(card, 'flux-1-dev-non-commercial')).toBe(licence);
});
