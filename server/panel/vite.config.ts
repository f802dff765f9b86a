import { defineConfig } from 'vite'

const still = new URL('src/pages/flows/canvas/still.ts', import.meta.url).pathname

// The built files are committed, so they must be the same wherever they are
// built: no time, no path, no version.
export default defineConfig({
  resolve: {
    alias: {
      // Preact does what React does here, in a third of its size.
      'react-dom/client': 'preact/compat/client',
      'react-dom': 'preact/compat',
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react/jsx-dev-runtime': 'preact/jsx-dev-runtime',
      react: 'preact/compat',
      // The canvas of flows does not animate.
      'd3-transition': still,
      'd3-interpolate': still,
    },
  },
  base: '',
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // Libraries say "use client" to servers that draw pages; we have none.
      onwarn: (warning, say) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && say(warning),
      // What nobody uses of a library is left out also where it is wrapped.
      treeshake: { manualPureFunctions: ['memo', 'forwardRef', 'createContext'] },
      output: {
        // What changes seldom apart from what changes often: a new page does
        // not change the libraries' file.
        codeSplitting: {
          groups: [
            { name: 'vendor', test: /node_modules\/(?!@xyflow|d3-|zustand|classcat)/, priority: 2 },
            // What only the canvas of flows needs; a group takes along what it imports, so it comes last.
            { name: 'canvas', test: /node_modules/, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '^/(?!panel|src|@|node_modules)': 'http://localhost:3000',
    },
  },
})
