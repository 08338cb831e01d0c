"""JupyterLab as ``make lab`` starts it: a chapter that is only opened does not count as changed.

JupyterLab writes into a notebook what its kernel says of itself, and where that differs from what was read, the
notebook is a changed one.  The form in which notebooks are committed names no version of Python: what the kernel is
going to say is put in as a notebook is read.
"""

from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from supercomputers_rerun.companion.notebooks import METADATA


class Contents(AsyncLargeFileManager):
    """Files as they are, but for the metadata of notebooks in the committed form."""

    async def get(self, path: str, content: bool = True, *asked: Any, **named: Any) -> dict[str, Any]:
        """A file or folder, as the server gives it."""
        model = await super().get(path, content, *asked, **named)
        if content and model["type"] == "notebook" and model["content"]["metadata"] == METADATA:
            kernel = METADATA["kernelspec"]["name"]
            assert self.parent is not None, "a server has its contents"
            spec = self.parent.kernel_spec_manager.get_kernel_spec(kernel)
            about = {"name": kernel, "display_name": spec.display_name, "language": spec.language}
            model["content"]["metadata"].update(kernelspec=about, language_info=IPythonKernel.language_info)
        return model
