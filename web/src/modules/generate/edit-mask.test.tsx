import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { upload } from '../../lib/api/upload.ts';
import type * as shapes from '../gallery/edit-picture/mask/mask-shapes.ts';
import { maskFile } from '../gallery/edit-picture/mask/mask-shapes.ts';
import type { pictureProblem } from '../gallery/edit-picture/picture-problem.ts';
import { FakeApi } from '../gallery/testing/fake-api.ts';
import { renderPage } from '../gallery/testing/render-page.tsx';

const server = vi.hoisted(() => ({ api: null as FakeApi | null }));
vi.mock('../../lib/api/api-client.ts', () => ({
  call: (...input: Parameters<FakeApi['call']>) => server.api?.call(...input),
}));
vi.mock('../../lib/api/upload.ts', () => ({ upload: vi.fn<typeof upload>() }));
// Nothing is decoded or painted in tests.
vi.mock('../gallery/edit-picture/picture-problem.ts', () => ({
  pictureProblem: vi.fn<typeof pictureProblem>(async () => null),
}));
vi.mock('../gallery/edit-picture/mask/mask-shapes.ts', () => ({
  paintArea: vi.fn<typeof shapes.paintArea>(),
  areaShare: vi.fn<typeof shapes.areaShare>(() => 0.25),
  maskFile: vi.fn<typeof shapes.maskFile>(),
}));

beforeAll(() =>
  Promise.all([
    import('./generator-page.tsx'),
    import('./own-results.tsx'),
    import('../gallery/edit-picture/source-field.tsx'),
    import('../gallery/edit-picture/mask/mask-field.tsx'),
    import('../gallery/edit-picture/mask/mask-editor.tsx'),
    import('./form/generator-settings.tsx'),
  ]),
);

let api: FakeApi;
const mask = new File(['mask'], 'mask.png', { type: 'image/png' });
beforeEach(() => {
  api = new FakeApi();
  server.api = api;
  vi.mocked(maskFile).mockReset().mockResolvedValue(mask);
  vi.mocked(upload)
    .mockReset()
    .mockImplementation(async (_endpoint, _params, file) => ({ id: file === mask ? 'm1' : 'p1' }));
  HTMLCanvasElement.prototype.getContext = (() => ({ canvas: document.createElement('canvas') })) as never;
});

/** Opens the editor for a picture of 60 x 40 pixels. */
async function openEditor(path = '/flux-kontext?prompt=a%20hat') {
  await renderPage(path);
  const bread = new File(['bytes'], 'bread.png', { type: 'image/png' });
  await userEvent.upload(await screen.findByLabelText('Choose a file'), bread);
  await userEvent.click(await screen.findByRole('button', { name: 'Paint an area' }));
  const dialog = await screen.findByRole('dialog', { name: 'Paint the area to change' });
  return { dialog: within(dialog), picture: dialog.querySelector('img') as HTMLImageElement };
}

function load(picture: HTMLImageElement) {
  Object.defineProperties(picture, { naturalWidth: { value: 60 }, naturalHeight: { value: 40 } });
  fireEvent.load(picture);
}

it('paints an area with the keyboard alone, and sends it with the picture', async () => {
  const { dialog, picture } = await openEditor();
  expect(dialog.getByRole<HTMLButtonElement>('button', { name: 'Use this area' }).disabled).toBe(true);
  load(picture);
  await dialog.findByRole('img', { name: 'Area to change: 25% of the picture' });
  await userEvent.click(dialog.getByRole('button', { name: 'Rectangle by coordinates' }));
  const left = await dialog.findByRole('spinbutton', { name: 'Left' });
  await userEvent.clear(left);
  await userEvent.type(left, '70');
  const add = dialog.getByRole<HTMLButtonElement>('button', { name: 'Add rectangle' });
  expect(add.disabled).toBe(true);
  await userEvent.clear(left);
  await userEvent.type(left, '10');
  await userEvent.click(add);
  await userEvent.click(dialog.getByRole('button', { name: 'Invert' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Clear' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Undo' }));
  fireEvent.change(dialog.getByRole('slider', { name: 'Feather' }), { target: { value: '3' } });
  await userEvent.click(dialog.getByRole('button', { name: 'Use this area' }));
  expect(await screen.findByText('Only the painted area')).toBeTruthy();
  expect(maskFile).toHaveBeenCalledExactlyOnceWith(
    [{ kind: 'rectangle', erases: false, left: 10, top: 0, width: 60, height: 40 }, { kind: 'invert' }],
    { size: { width: 60, height: 40 }, feather: 3 },
  );
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  await waitFor(() =>
    expect(api.bodiesOf('/api/v1/generations')).toMatchObject([{ picture_id: 'p1', mask_id: 'm1' }]),
  );
});

it('paints strokes with the pointer, and erases', async () => {
  const { dialog, picture } = await openEditor();
  load(picture);
  const canvas = await dialog.findByRole('img', { name: /^Area to change/ });
  canvas.setPointerCapture = () => undefined;
  canvas.getBoundingClientRect = () => new DOMRect(0, 0, 120, 80);
  const at = (clientX: number, clientY: number) => ({ clientX, clientY, button: 0, isPrimary: true });
  fireEvent.pointerDown(canvas, at(20, 20));
  fireEvent.pointerMove(canvas, at(40, 20));
  fireEvent.pointerUp(canvas, at(40, 20));
  fireEvent.pointerMove(canvas, at(60, 20));
  await userEvent.click(dialog.getByRole('button', { name: 'Eraser' }));
  fireEvent.pointerDown(canvas, at(30, 20));
  fireEvent.pointerDown(canvas, { ...at(90, 20), isPrimary: false });
  await userEvent.click(dialog.getByRole('button', { name: 'Use this area' }));
  const stroke = { kind: 'stroke', thickness: 5 };
  await waitFor(() =>
    expect(vi.mocked(maskFile).mock.lastCall?.[0]).toEqual([
      {
        ...{ ...stroke, erases: false },
        points: [
          { x: 10, y: 10 },
          { x: 20, y: 10 },
        ],
      },
      { ...stroke, erases: true, points: [{ x: 15, y: 10 }] },
    ]),
  );
});

it('shows an error if the picture cannot be loaded, and tries again', async () => {
  const { dialog, picture } = await openEditor();
  fireEvent.error(picture);
  expect((await dialog.findByRole('alert')).textContent).toContain('The picture could not be loaded');
  await userEvent.click(dialog.getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(screen.getByRole('dialog').querySelector('img')).toBeTruthy());
});

it('uses the whole picture again, and a new picture has no area', async () => {
  const { dialog, picture } = await openEditor();
  load(picture);
  await dialog.findByRole('img', { name: /^Area to change/ });
  await userEvent.click(dialog.getByRole('button', { name: 'Select all' }));
  await userEvent.click(dialog.getByRole('button', { name: 'Use this area' }));
  await userEvent.click(await screen.findByRole('button', { name: 'Remove the area' }));
  expect(screen.getByText('The whole picture')).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Generate' }));
  await waitFor(() => expect(api.bodiesOf('/api/v1/generations')).toHaveLength(1));
  expect(api.bodiesOf('/api/v1/generations')[0]).not.toHaveProperty('mask_id');
});
