import { describe, expect, test } from 'vitest';
import {
  bglInput,
  displayAmount,
  fixedAmount,
  formatBgl,
  formatUsd,
  parseBgl,
  parseUsdCents,
  placesFor,
} from './money.ts';

describe('cents', () => {
  test.each([
    ['0.29', 29],
    ['1.15', 115],
    ['007.5', 750],
    ['10000', 1_000_000],
    ['999999999999.99', 99_999_999_999_999],
  ])('%s dollars are %i', (text, cents) => {
    expect(parseUsdCents(text)).toBe(cents);
  });

  test.each(['', '1.', '.5', '1.234', '-1', '1e3', '1'.repeat(13)])('refuses %j as dollars', (text) => {
    expect(() => parseUsdCents(text)).toThrow();
  });
});

describe('amounts', () => {
  test.each([
    ['0', 0n],
    ['12.5', 12_500_000n],
    ['0.000001', 1n],
    ['-3.25', -3_250_000n],
    ['999999999999999.999999', 999_999_999_999_999_999_999n],
  ])('%s converts to %s micro-BGL and back', (text, micro) => {
    expect(parseBgl(text)).toBe(micro);
    expect(formatBgl(micro)).toBe(text);
  });

  test('are formatted without needless zeros', () => {
    expect(formatBgl(parseBgl('007.500'))).toBe('7.5');
    expect(formatBgl(-1n)).toBe('-0.000001');
  });

  test.each(['', '1e3', '1,5', '.5', '5.', '0.0000001', '0x10', 'NaN', '--1', '1 2', '1'.repeat(16)])(
    'refuses %j',
    (text) => {
      expect(() => parseBgl(text)).toThrow();
    },
  );

  test('are exact in dollars too', () => {
    expect(formatUsd(parseBgl('25'))).toBe('1');
    expect(formatUsd(12_500_000n)).toBe('0.5');
    expect(formatUsd(1n)).toBe('0.00000004');
    expect(formatUsd(-25_000_001n)).toBe('-1.00000004');
  });

  test('are accepted as text or number', () => {
    expect(bglInput.parse(0.1)).toBe(100_000n);
    expect(bglInput.parse(' 12.5 ')).toBe(12_500_000n);
    expect(bglInput.safeParse(1e-7).success).toBe(false);
    expect(bglInput.safeParse(1e21).success).toBe(false);
    expect(bglInput.safeParse(true).success).toBe(false);
    expect(bglInput.parse('999999999999.999999')).toBe(999_999_999_999_999_999n);
    expect(bglInput.safeParse('1000000000000').error?.issues[0]?.message).toBe(
      'Amount must be less than 1,000,000,000,000 BGL',
    );
    expect(bglInput.safeParse('9'.repeat(24)).error?.issues[0]?.message).toBe(
      'Amount must be less than 1,000,000,000,000 BGL',
    );
    expect(bglInput.parse('0000000000012')).toBe(12_000_000n);
  });
});

describe('amounts as JSON numbers', () => {
  test.each([
    ['999999999.999999', 999_999_999_999_999n],
    ['-123456789.123457', -123_456_789_123_457n],
    ['0.000001', 1n],
  ])('%s is exact', (json, micro) => {
    expect(bglInput.parse(JSON.parse(json))).toBe(micro);
  });

  // The last one parses as 99999999999, which may have been intended.
  test.each(['12345678901.123456', '1000000000', '-1000000000.5', '99999999999.000001'])(
    'refuses %s, which may have been rounded',
    (json) => {
      expect(bglInput.safeParse(JSON.parse(json)).error?.issues).toMatchObject([
        { message: 'Amount is too large for a JSON number, which may be rounded. Send it as a string' },
      ]);
      expect(bglInput.parse(json)).toBe(parseBgl(json));
    },
  );
});

describe('amounts for people', () => {
  test.each([
    [125_000_000n, 'BGL', '125.00 BGL'],
    [125_000_000n, 'USD', '$5.00'],
    [30_864_197_500_000n, 'USD', '$1,234,567.90'],
    [-125_000_000n, 'USD', '−$5.00'],
    [4_999n, 'BGL', '0.00 BGL'],
    [5_000n, 'BGL', '0.01 BGL'],
    [124_999n, 'USD', '$0.00'],
    [125_000n, 'USD', '$0.01'],
  ] as const)('%s micro-BGL in %s is %s', (micro, currency, text) => {
    expect(displayAmount(micro, currency)).toBe(text);
  });

  test.each([
    [1n, 'BGL', 6, '0.000001 BGL'],
    [1n, 'USD', 8, '$0.00000004'],
    [86_250n, 'USD', 4, '$0.0035'],
    [-30_864_197_500_000n, 'USD', 3, '−$1,234,567.900'],
  ] as const)('%s micro-BGL in %s with %s decimals is %s', (micro, currency, places, text) => {
    expect(displayAmount(micro, currency, places)).toBe(text);
  });

  test.each([
    [0n, 'BGL', '0.00'],
    [1_234_567_895_000n, 'BGL', '1234567.90'],
    [1_250_000_000_000n, 'USD', '50000.00'],
    [-5_000n, 'BGL', '-0.01'],
  ] as const)('%s micro-BGL in %s are %s for programs', (micro, currency, text) => {
    expect(fixedAmount(micro, currency)).toBe(text);
  });

  test.each([
    [3_400n, 'BGL', '0.0034 BGL'],
    [25_000n, 'BGL', '0.025 BGL'],
    [-25_400n, 'BGL', '−0.025 BGL'],
    [30_000n, 'BGL', '0.03 BGL'],
    [99_900n, 'BGL', '0.100 BGL'],
    [254_000n, 'BGL', '0.25 BGL'],
    [625_000n, 'USD', '$0.03'],
    [3_400n, 'USD', '$0.00014'],
    [-1n, 'BGL', '−0.000001 BGL'],
    [0n, 'USD', '$0.00'],
    [250_000n, 'USD', '$0.01'],
  ] as const)('%s micro-BGL in %s keep significant digits: %s', (micro, currency, text) => {
    expect(displayAmount(micro, currency, placesFor(micro, currency))).toBe(text);
  });
});
