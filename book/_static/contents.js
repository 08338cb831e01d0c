/* On a phone the contents of a page close when a section is chosen. */
document.getElementById("pst-secondary-sidebar-modal")?.addEventListener("click", (event) => {
  if (event.target.closest('a[href^="#"]')) event.currentTarget.close();
});
