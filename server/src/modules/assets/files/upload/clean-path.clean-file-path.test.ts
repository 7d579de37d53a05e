import { describe, expect, test } from 'vitest';
import { cleanFilePath } from './clean-path.ts';

describe('cleanFilePath', () => {
  test.each([
    ['model_index.json', 'model_index.json'],
    ['transformer/diffusion_pytorch_model.safetensors', 'transformer/diffusion_pytorch_model.safetensors'],
    ['a/b/c d/e.json', 'a/b/c d/e.json'],
    ['Zu\u0308rich/plan\u202E.csv', 'Zürich/plan.csv'],
    ['vae /\u200Bconfig.json\n', 'vae/config.json'],
    ['..hidden/...', '..hidden/...'],
    ['100%22/a', '100%22/a'],
    [`${'ü'.repeat(127)}/${'x'.repeat(255)}`, `${'ü'.repeat(127)}/${'x'.repeat(255)}`],
  ])('converts %j to %j', (sent, kept) => {
    expect(cleanFilePath(sent)).toBe(kept);
  });

  test.each([
    ['', 'path must be relative'],
    ['/etc/passwd', 'path must be relative'],
    ['vae/', 'path must be relative'],
    ['vae//config.json', 'path must be relative'],
    ['./config.json', 'path must be relative'],
    ['../config.json', 'path must be relative'],
    ['vae/../../config.json', 'path must be relative'],
    // Checked after removing invisible characters.
    ['vae/.\u200B./config.json', 'path must be relative'],
    ['vae/\u0007/config.json', 'path must be relative'],
    ['vae/con\u0000fig.json', 'path has characters that cannot be stored'],
    ['vae\\config.json', 'path must have / between its folders'],
    [`vae/${'ü'.repeat(128)}`, 'path must have at most 255 bytes between two /'],
    [`${'abcdefg/'.repeat(128)}a`, 'path must have at most 1024 bytes'],
  ])('rejects %j', (sent, message) => {
    expect(() => cleanFilePath(sent)).toThrow(
      expect.objectContaining({ param: 'path', status: 400, message: expect.stringContaining(message) }),
    );
  });
});
