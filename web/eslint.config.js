import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import { literalText } from './scripts/literal_text.ts';

export default ts.config(
  { ignores: ['.svelte-kit/', 'build/', 'src/paraglide/', 'src/api/{schema,events}.d.ts'] },
  ts.configs.strict,
  svelte.configs.recommended,
  {
    languageOptions: {
      globals: globals.browser,
      // The same for all files: with two sets of extensions the types are read twice.
      parserOptions: { projectService: true, extraFileExtensions: ['.svelte'] }
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, attributes: false } }
      ],
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }
      ],
      // Promise.withResolvers<void>()
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Dates and sets that nothing shows need not be reactive.
      'svelte/prefer-svelte-reactivity': 'off',
      // There are no stores, and to look for them takes long.
      'svelte/require-store-reactive-access': 'off',
      // The app is at the root of its host.
      'svelte/no-navigation-without-resolve': 'off'
    }
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser } }
  },
  { files: ['*.js'], extends: [ts.configs.disableTypeChecked] },
  {
    files: ['src/**/*.svelte'],
    plugins: { web: { rules: { 'literal-text': literalText } } },
    rules: { 'web/literal-text': 'error' }
  }
);
