import { afterEach, expect, test, vi } from 'vitest';
import { areaShare, paintArea, type Shape } from './mask-shapes.ts';

const size = { width: 6, height: 4 };

/** A canvas that knows only rectangles: its pixels are 1 where the picture changes. */
function paint(shapes: readonly Shape[], canvas = size): string[] {
  const pixels = Array.from({ length: size.height }, () => Array.from({ length: size.width }, () => 0));
  const within = (rectangle: number[], change: (before: number) => number) => {
    const [left = 0, top = 0, width = 0, height = 0] = rectangle;
    for (const [y, row] of pixels.entries())
      for (const [x, before] of row.entries())
        if (x >= left && x < left + width && y >= top && y < top + height) row[x] = change(before);
  };
  const context = {
    canvas,
    globalCompositeOperation: 'source-over',
    setTransform: (...scale: number[]) =>
      expect(scale).toEqual([canvas.width / 6, 0, 0, canvas.height / 4, 0, 0]),
    clearRect: (...rectangle: number[]) => within(rectangle, () => 0),
    fillRect: (...rectangle: number[]) =>
      within(rectangle, (before) => {
        if (context.globalCompositeOperation === 'xor') return 1 - before;
        return context.globalCompositeOperation === 'destination-out' ? 0 : 1;
      }),
  };
  paintArea(context as unknown as CanvasRenderingContext2D, shapes, { size, feather: 0 });
  return pixels.map((row) => row.join(''));
}

const rectangle = { kind: 'rectangle', left: 1, top: 1, width: 3, height: 2, erases: false } as const;

test.each<[string, Shape[], string[]]>([
  ['nothing', [], ['000000', '000000', '000000', '000000']],
  ['a rectangle', [rectangle], ['000000', '011100', '011100', '000000']],
  [
    'all but a rectangle',
    [{ kind: 'all' }, { ...rectangle, erases: true }],
    ['111111', '100011', '100011', '111111'],
  ],
  ['an inverted rectangle', [rectangle, { kind: 'invert' }], ['111111', '100011', '100011', '111111']],
  ['a cleared area', [{ kind: 'all' }, { kind: 'clear' }], ['000000', '000000', '000000', '000000']],
  [
    'a rectangle after an inversion',
    [{ kind: 'invert' }, { kind: 'clear' }, rectangle],
    ['000000', '011100', '011100', '000000'],
  ],
])('paints %s', (_what, shapes, expected) => {
  expect(paint(shapes)).toEqual(expected);
});

test('scales the shapes to the canvas', () => {
  expect(paint([rectangle], { width: 3, height: 2 })[1]).toBe('011100');
});

afterEach(() => vi.unstubAllGlobals());

test.each([
  ['a stroke that scaling loses', 1],
  ['nothing', 0],
])('measures %s', (_what, opaquePixels) => {
  const contextOf = (canvas: { width: number; height: number }, opaque: number) => {
    const data = Array.from({ length: canvas.width * canvas.height * 4 }, (_, at) =>
      at % 4 === 3 && at < opaque * 4 ? 255 : 0,
    );
    return { canvas, drawImage: () => undefined, getImageData: () => ({ data }) };
  };
  const createElement = () => {
    const canvas = { width: 0, height: 0, getContext: () => contextOf(canvas, 0) };
    return canvas;
  };
  vi.stubGlobal('document', { createElement });
  const area = contextOf({ width: 100, height: 100 }, opaquePixels);
  expect(areaShare(area as unknown as CanvasRenderingContext2D)).toBe(opaquePixels / 10_000);
});
