/** Whether a source can hold a pin at all: a cheap look, so that nothing starts where there is nothing to see. */

/** How much of a file is looked at. */
const LOOKED_AT = 200_000;

const SIGNS: Record<string, RegExp> = {
  python: /^\s*assert[\s(]|def test|unittest|pytest/m,
  rust: /#\[[^\]\n]*test|assert/,
};

export function mayHoldPins(language: string, text: string): boolean {
  return SIGNS[language]?.test(text.slice(0, LOOKED_AT)) ?? false;
}
